//! One request, from consent to result: the same whoever planned it, and whoever consents.

use super::decision::{Decision, Verdict};
use super::line::Line;
use super::{Event, Report, ToolUse, Turn};
use crate::bubb::{Kind, Name};
use crate::error::Result;
use crate::tool::{CommandRequest, Consent, Granted, Proposal};

/// How tool use goes on after one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// There may be more.
    Again,
    /// It is over: the model answers with what it has.
    Answer,
    /// The request waits for somebody.
    Wait,
}

impl Turn<'_> {
    /// A request that was just written down: asked about, carried out, its result told.
    pub(super) async fn request(
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
            let proposal = self.propose(&request).await;
            let (mode, most) = (self.settings.tool_call_mode, self.settings.auto_access);
            if let Some(granted) = proposal.runs_unasked(mode, most) {
                self.front.happens(Event::Announce(&proposal));
                break granted;
            }
            let reply = self.interrupt.or(self.front.ask(&proposal)).await?;
            match Consent::of(proposal, reply) {
                Consent::Granted(granted) => {
                    self.front.happens(Event::Running(&request.command));
                    break granted;
                }
                Consent::Edited(edited) => {
                    if edited != request {
                        name = self.add(line, name.kind, true, edited.canonical().as_bytes())?;
                        request = edited;
                    }
                }
                Consent::Refused => return self.refused(line, &name, &request, report),
                Consent::Pending => {
                    report.pending = Some(name.id);
                    report.tools.push(tool_use(&name, &request));
                    return Ok(Next::Wait);
                }
            }
        };
        done.push(request.clone());
        self.carry(line, &name, &request, granted, report).await
    }

    /// A request that waited, and the person's word on it.
    pub(super) async fn decided(
        &mut self,
        line: &mut Line,
        decision: Decision,
        report: &mut Report,
    ) -> Result<Next> {
        let Decision { name, request, verdict } = decision;
        let proposal = self.propose(&request).await;
        if verdict == Verdict::Approve {
            self.front.happens(Event::Announce(&proposal));
        }
        match Consent::of(proposal, verdict.reply()) {
            Consent::Granted(granted) => self.carry(line, &name, &request, granted, report).await,
            _ => self.refused(line, &name, &request, report),
        }
    }

    async fn propose(&self, request: &CommandRequest) -> Proposal {
        Proposal {
            request: request.clone(),
            dir: self.store.root().to_path_buf(),
            sandbox: self.sandbox.get().await.holding(request.access),
        }
    }

    async fn carry(
        &mut self,
        line: &mut Line,
        name: &Name,
        request: &CommandRequest,
        granted: Granted,
        report: &mut Report,
    ) -> Result<Next> {
        let carried = self.carry_out(granted).await?;
        let result = self.result(line, name, request, &carried.text, carried.exit, report)?;
        self.journal_command(&result, &carried);
        Ok(if carried.ran { Next::Again } else { Next::Answer })
    }

    fn refused(
        &mut self,
        line: &mut Line,
        name: &Name,
        request: &CommandRequest,
        report: &mut Report,
    ) -> Result<Next> {
        self.result(line, name, request, b"refused: the user said no", None, report)?;
        Ok(Next::Answer)
    }

    /// What came of a request: a tool's word on the side branch, lepo's own in the conv.
    fn result(
        &mut self,
        line: &mut Line,
        request_name: &Name,
        request: &CommandRequest,
        text: &[u8],
        exit: Option<i32>,
        report: &mut Report,
    ) -> Result<Name> {
        let kind = if request_name.kind == Kind::Assistant { Kind::Tool } else { Kind::System };
        let name = self.add(line, kind, true, text)?;
        report.tools.push(ToolUse { result: Some(name.id), exit, ..tool_use(request_name, request) });
        Ok(name)
    }
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
