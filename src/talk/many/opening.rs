//! How many begin: the conv, the user's own commands, the question. All of it is durable before
//! anybody is asked.

use super::{Moment, Stage};
use crate::bubb::Kind;
use crate::error::Result;
use crate::talk::command::Hands;
use crate::talk::line::Line;
use crate::talk::report::ToolUse;
use crate::talk::{Ask, Event, Start};
use crate::tool::{GrantedCommand, Stream};

/// What all are asked.
pub struct Opening {
    /// The conv to the question.
    pub line: Line,
    /// The user's own commands.
    pub tools: Vec<ToolUse>,
}

impl Stage<'_> {
    /// Takes up the conv, and adds what is new to it.
    pub(super) async fn open(&self, ask: Ask) -> Result<Opening> {
        let line = Line::at(self.store, self.forest, ask.start)?;
        let mut opening = Opening { line, tools: Vec::new() };
        if let Some(prompt) = ask.system_prompt.filter(|_| ask.start == Start::New) {
            self.add(&mut opening.line, Kind::System, true, &prompt)?;
        }
        for command in &ask.runs {
            self.run(&mut opening, command).await?;
        }
        if let Some(question) = ask.question {
            self.add(&mut opening.line, Kind::User, false, &question)?;
        }
        Ok(opening)
    }

    /// The user's own command: no consent, no sandbox, its output for all to see.
    async fn run(&self, opening: &mut Opening, command: &str) -> Result<()> {
        self.tell(Event::Running(command));
        let hands =
            Hands { store: self.store, settings: self.settings, own: self.own, interrupt: self.interrupt };
        let mut live = |stream, bytes: &[u8]| {
            if stream == Stream::Stderr {
                self.tell(Event::Stderr(bytes));
            }
        };
        let carried = hands.carry_out(GrantedCommand::by_user(command), &mut live).await?;
        let name = opening.line.add(Kind::System, false, &carried.text)?;
        self.tell(Event::Bubb(&name, Some(&carried.text)));
        hands.journal(&name, "command", &carried);
        opening.tools.push(ToolUse {
            bubb: name.id,
            kind: "run",
            request: serde_json::json!({ "command": command }),
            result: Some(name.id),
            exit: carried.exit,
        });
        Ok(())
    }

    /// Adds a bubb that is in nobody's reply.
    pub(super) fn add(&self, line: &mut Line, kind: Kind, hidden: bool, text: &str) -> Result<()> {
        let name = line.add(kind, hidden, text.as_bytes())?;
        self.tell(Event::Bubb(&name, Some(text.as_bytes())));
        Ok(())
    }

    pub(super) fn tell(&self, event: Event<'_>) {
        self.watch.sees(Moment::Common(event));
    }
}
