//! The answer, and the tools that a model calls natively on the way to it.
//!
//! Calls and results are a side branch that grows from where General started; the answer is linked
//! to that place itself, so that a finished turn leaves them out of every later context.

use std::time::Instant;

use super::answer::{Place, Received, receive};
use super::context::{Inst, messages};
use super::line::Line;
use super::native::{call_text, command_of, run_command};
use super::request::Next;
use super::send::{send, tell_saved};
use super::turn::waits;
use super::{Report, Turn};
use crate::bubb::Kind;
use crate::error::Result;
use crate::model::{Request, ToolCall};
use crate::tool::CommandRequest;

impl Turn<'_> {
    /// The last word: streamed, and a visible bubb. With `tools`, the model may call them first.
    pub(super) async fn answer(&mut self, line: &mut Line, report: &mut Report, tools: bool) -> Result<()> {
        let specs = [run_command()];
        let mut done = line.commands_of_turn();
        let mut rounds =
            if tools { (self.settings.max_rounds as usize).saturating_sub(done.len()) } else { 0 };
        // A turn that is gone on with has a side branch already.
        let side = line.side_branch();
        loop {
            let inst = Inst::General(self.insts.general.as_deref());
            let messages = messages(&line.said, inst, self.config.provider);
            let tools = if rounds > 0 { specs.as_slice() } else { &[] };
            let (start, interrupt) = (Instant::now(), self.interrupt);
            let request = Request { messages: &messages, tools, ..Request::default() };
            let (answer, saved) = interrupt.or(send(self.model, self.front, line, request)).await?;
            tell_saved(self.front, report, saved);
            let answer = answer?;
            let base = *side.get_or_init(|| line.path.len());
            let place = Place {
                store: self.store,
                under: line.path.get(base - 1).copied(),
                tip: line.tip(),
                tools: !tools.is_empty(),
                model: &self.config.name,
                start,
            };
            match receive(answer, place, self.front, interrupt).await? {
                Received::Answer(answered) => {
                    line.path.truncate(base);
                    report.answer = Some(answered);
                    return Ok(());
                }
                Received::Calls(words, calls) => {
                    if let Some(words) = words {
                        line.take_up(&words)?;
                    }
                    rounds = match self.calls(line, calls, &mut done, report).await? {
                        Next::Again => rounds - 1,
                        Next::Answer => 0,
                        Next::Wait => return waits(report),
                    };
                }
            }
        }
    }

    /// The calls of one answer, in order. Those after one that ends tool use are dropped.
    async fn calls(
        &mut self,
        line: &mut Line,
        calls: Vec<ToolCall>,
        done: &mut Vec<CommandRequest>,
        report: &mut Report,
    ) -> Result<Next> {
        self.sandbox.begin();
        let mut calls = calls.into_iter();
        while let Some(call) = calls.next() {
            let Some(request) = command_of(&call) else {
                self.add(line, Kind::Assistant, true, call_text(&call).as_bytes())?;
                let text = "error: there is no such tool, or its arguments do not fit its schema";
                self.add(line, Kind::Tool, true, text.as_bytes())?;
                continue;
            };
            let name = self.add(line, Kind::Assistant, true, request.canonical().as_bytes())?;
            let next = self.request(line, request, name, done, report).await?;
            if next == Next::Answer && calls.len() > 0 {
                let text = format!("calls of the same answer that were dropped: {}", calls.len());
                self.add(line, Kind::System, true, text.as_bytes())?;
            }
            if next != Next::Again {
                return Ok(next);
            }
        }
        Ok(Next::Again)
    }
}
