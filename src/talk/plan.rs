//! Tool use before the answer: chooser, writer, consent, command; again, until none is needed.

use std::time::Instant;

use super::context::{Inst, messages};
use super::line::Line;
use super::planner::{Choice, choice_schema, read_request, request_schema};
use super::send::{send, tell_saved, whole};
use super::{Event, Report, ToolUse, Turn};
use crate::bubb::{BubbId, Kind, Name};
use crate::error::Result;
use crate::model::{self, Request, Schema};
use crate::store::Entry;
use crate::tool::{CommandRequest, Consent, Proposal, Sandbox};

/// How tool use goes on after one request.
enum Next {
    Again,
    Answer,
    Wait,
}

impl Turn<'_> {
    /// Chooser, writer, consent, command; again, until no command is needed.
    pub(super) async fn plan(&mut self, line: &mut Line, report: &mut Report) -> Result<()> {
        let (chooser, writer) = (self.insts.tool_chooser.clone(), self.insts.command_writer.clone());
        let mut done = Vec::new();
        for _ in 0..self.settings.max_rounds {
            let choice = self.ask(line, &chooser, &choice_schema(), report, Choice::read).await?;
            let Some((choice, used)) = choice else {
                self.front.happens(Event::Say("warning: the tool chooser's answer could not be read"));
                return Ok(());
            };
            let name = self.add(line, Kind::System, true, choice.canonical().as_bytes())?;
            self.journal(Some(name.id), "chooser", used);
            if choice == Choice::None {
                return Ok(());
            }
            let written = self.ask(line, &writer, &request_schema(), report, read_request).await?;
            let Some(((request, words), used)) = written else {
                self.front.happens(Event::Say("warning: the command writer's answer could not be read"));
                return Ok(());
            };
            if !words.is_empty() {
                self.add(line, Kind::Assistant, true, words.as_bytes())?;
            }
            let name = self.add(line, Kind::System, true, request.canonical().as_bytes())?;
            self.journal(Some(name.id), "writer", used);
            match self.request(line, request, name, &mut done, report).await? {
                Next::Again => {}
                Next::Answer | Next::Wait => return Ok(()),
            }
        }
        let limit = self.settings.max_rounds;
        self.front.happens(Event::Say(&format!("note: {limit} rounds of commands are the limit of a turn")));
        Ok(())
    }

    /// One request: asked about, carried out, its result told.
    async fn request(
        &mut self,
        line: &mut Line,
        mut request: CommandRequest,
        mut name: Name,
        done: &mut Vec<CommandRequest>,
        report: &mut Report,
    ) -> Result<Next> {
        let granted = loop {
            if done.iter().any(|earlier| earlier.same_deed(&request)) {
                let text = "This very request was carried out before in this turn; its result is above.";
                self.result(line, &name, &request, text.as_bytes(), None, report)?;
                return Ok(Next::Again);
            }
            let proposal = Proposal {
                request: request.clone(),
                dir: self.store.root().to_path_buf(),
                sandbox: Sandbox::None,
            };
            let asked = self.interrupt.or(self.front.ask(&proposal)).await;
            let reply = asked?;
            match Consent::of(proposal, reply) {
                Consent::Granted(granted) => break granted,
                Consent::Edited(edited) => {
                    if edited != request {
                        name = self.add(line, Kind::System, true, edited.canonical().as_bytes())?;
                        request = edited;
                    }
                }
                Consent::Refused => {
                    self.result(line, &name, &request, b"refused: the user said no", None, report)?;
                    return Ok(Next::Answer);
                }
                Consent::Pending => {
                    report.pending = Some(name.id);
                    report.tools.push(tool_use(&name, &request));
                    return Ok(Next::Wait);
                }
            }
        };
        done.push(request.clone());
        self.front.happens(Event::Running(&request.command));
        let carried = self.carry_out(granted).await?;
        let result = self.result(line, &name, &request, &carried.text, carried.exit, report)?;
        self.journal_command(&result, &carried);
        Ok(if carried.ran { Next::Again } else { Next::Answer })
    }

    fn result(
        &mut self,
        line: &mut Line,
        request_name: &Name,
        request: &CommandRequest,
        text: &[u8],
        exit: Option<i32>,
        report: &mut Report,
    ) -> Result<Name> {
        let name = self.add(line, Kind::System, true, text)?;
        report.tools.push(ToolUse { result: Some(name.id), exit, ..tool_use(request_name, request) });
        Ok(name)
    }

    /// A question that is answered in JSON; `None` if it could not be read, twice.
    async fn ask<T>(
        &mut self,
        line: &mut Line,
        inst: &Option<String>,
        schema: &Schema,
        report: &mut Report,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<(T, Used)>> {
        let messages = messages(&line.said, Inst::Planner(inst.as_deref()), self.config.provider);
        for schema in [Some(schema), None] {
            let request = Request { messages: &messages, schema, ..Request::default() };
            let start = Instant::now();
            let interrupt = self.interrupt;
            let work = async {
                let (answer, saved) = send(self.model, self.front, line, request).await?;
                tell_saved(self.front, report, saved);
                whole(answer?, self.front).await
            };
            let (text, usage) = interrupt.or(work).await?;
            let used = Used { usage, ms: start.elapsed().as_millis() as u64 };
            match read(&text) {
                Some(found) => return Ok(Some((found, used))),
                None => self.journal(None, "unreadable", used),
            }
        }
        Ok(None)
    }

    // The journal is never needed: that it cannot be written is no reason to fail.
    fn journal(&self, bubb: Option<BubbId>, what: &str, used: Used) {
        let _ = self.store.journal(Entry {
            bubb,
            what,
            model: Some(&self.config.name),
            input: used.usage.input,
            output: used.usage.output,
            ms: used.ms,
            ..Entry::default()
        });
    }
}

/// What a request cost.
struct Used {
    usage: model::Usage,
    ms: u64,
}

fn tool_use(name: &Name, request: &CommandRequest) -> ToolUse {
    ToolUse {
        bubb: name.id,
        kind: "command",
        request: serde_json::from_str(&request.canonical()).unwrap_or_default(),
        result: None,
        exit: None,
    }
}
