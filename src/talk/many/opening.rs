//! How many begin: the conv, the user's own commands, the question. All of it is durable before
//! anybody is asked.

use super::{Moment, Stage};
use crate::bubb::Kind;
use crate::error::Result;
use crate::talk::command::{Hands, all_but_stdout};
use crate::talk::line::Line;
use crate::talk::report::ToolUse;
use crate::talk::{Ask, Event, Start};

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
        let hands =
            Hands { store: self.store, settings: self.settings, own: self.own, interrupt: self.interrupt };
        for command in &ask.runs {
            opening.tools.push(
                hands.run(&mut opening.line, command, &mut all_but_stdout(|event| self.tell(event))).await?,
            );
        }
        if let Some(question) = ask.question {
            self.add(&mut opening.line, Kind::User, false, &question)?;
        }
        Ok(opening)
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
