//! One request of a model, from consent to result. A planner's request and a call of the model take the same way.

use super::agents::{ToldFile, agree};
use super::command_runner::{Carried, CommandRunner};
use super::decision::{Decision, Verdict};
use super::flow::Turn;
use super::{Event, RunBy};
use lepo_base::error::{Error, Kind as ErrorKind, Result};
use lepo_store::bubb::Name;
use lepo_tool::{
    Allowed, CommandProposal, Consent, Granted, GrantedCommand, Proposal, Reply, ToolMode, ToolRequest,
};

/// The continuation of tool use after one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The model may request more.
    Again,
    /// Tool use has ended for this turn: the model answers with the results so far.
    Answer,
    /// The request is pending, and the turn ends.
    Wait,
}

/// The text before several requests of one answer. The first may be decided on in a later process; the
/// model then reads here what happened to the others.
pub(super) fn several_note(requests: usize) -> Option<String> {
    let told = "requests in this answer, to be carried out in order; those after one that is refused, fails \
                or waits for consent are dropped";
    (requests > 1).then(|| format!("({requests} {told})"))
}

/// The result of a refused request, for the model.
pub(super) const REFUSED: &str = "refused: the user said no";

/// The result of a request that could only wait, in a conversation of which nothing is kept.
const NOBODY: &str = "refused: there was nobody to ask";

/// The result of a call whose tool changed between the decision and the call.
const CHANGED: &str = "error: the tool changed after the call was approved, so it was not made";

impl Turn<'_> {
    /// Gets consent for a request that was just written as a bubb, runs it, and adds its result.
    pub(super) async fn decide_and_run(
        &mut self,
        mut request: ToolRequest,
        mut name: Name,
        done: &mut Vec<ToolRequest>,
    ) -> Result<Next> {
        // Until its result is written, no other process can decide on it.
        let mut _claim = self.env.store.requests().claim(name.id)?;
        loop {
            if done.iter().any(|earlier| earlier.same_action(&request)) {
                let text = "This very request was carried out before in this turn; its result is above.";
                self.result(&name, &request, text.as_bytes(), None)?;
                return Ok(Next::Again);
            }
            if let Some((text, exit)) = self.recorded(&request) {
                self.front.happens(Event::Say(&format!("recorded: {}", request.line())));
                self.result(&name, &request, &text, exit)?;
                done.push(request);
                return Ok(if text == REFUSED.as_bytes() { Next::Answer } else { Next::Again });
            }
            let mut proposal = match self.propose(&request).await? {
                Ok(proposal) => proposal,
                Err(why) => return self.not_run(&name, &request, &why),
            };
            let (mode, most) = (self.env.settings().tool_call_mode, self.env.settings().auto_access);
            // A replay runs nothing by itself.
            let mode = if self.results.is_some() { ToolMode::Manual } else { mode };
            let unagreed = self.unagreed(&proposal)?;
            proposal.name_unagreed(unagreed.iter().map(|file| file.path.clone()).collect());
            let unasked = proposal.runs_unasked(mode, most);
            let unasked = unasked.or_else(|| self.allowed(|allowed| allowed.grants(&proposal)));
            let granted = match unasked {
                Some(granted) => {
                    self.front.happens(Event::Announce(&proposal));
                    granted
                }
                None => match self.asked(proposal, &request, &unagreed).await? {
                    Consent::Granted(granted) => granted,
                    Consent::Edited(edited) => {
                        let edited = ToolRequest::Command(edited);
                        if edited != request {
                            name = self.add(name.kind, true, edited.canonical().as_bytes())?;
                            _claim = self.env.store.requests().claim(name.id)?;
                            request = edited;
                        }
                        continue;
                    }
                    Consent::Refused => return self.not_run(&name, &request, REFUSED),
                    Consent::Pending if !self.env.keeps => return self.not_run(&name, &request, NOBODY),
                    Consent::Pending => {
                        self.record.wait_for(&name, &request);
                        return Ok(Next::Wait);
                    }
                },
            };
            // A tool that changed in the meantime was not called: it is proposed as it is now.
            if let Some(next) = self.run_granted(&name, &request, granted).await? {
                done.push(request);
                return Ok(next);
            }
        }
    }

    /// Asks for consent, and takes note of what the person agreed to.
    async fn asked(
        &mut self,
        proposal: Proposal,
        request: &ToolRequest,
        unagreed: &[ToldFile],
    ) -> Result<Consent> {
        let reply = self.env.interrupt.or(self.front.ask(&proposal)).await?;
        if reply == Reply::Always {
            self.allowed(|allowed| allowed.note(&proposal));
        }
        if reply.agrees() {
            agree(unagreed, &self.trust())?;
        }
        let consent = Consent::of(proposal, reply);
        if let Consent::Granted(_) = &consent {
            self.pin_tool(request)?;
            if let ToolRequest::Command(request) = request {
                self.front.happens(Event::CommandStarted(&request.command));
            }
        }
        Ok(consent)
    }

    /// The recorded result of this request, in a replay.
    fn recorded(&self, request: &ToolRequest) -> Option<(Vec<u8>, Option<i32>)> {
        let (text, exit) = self.results.as_ref()?.of(request)?;
        Some((text.to_vec(), exit))
    }

    /// Applies a decision (`--approve`, `--deny`) to a pending request.
    pub(super) async fn decided(&mut self, decision: Decision) -> Result<Next> {
        let Decision { name, request, verdict, truth } = decision;
        if let Some(truth) = truth {
            self.record.transcript.restore_last(&truth);
        }
        if verdict == Verdict::Deny {
            return self.not_run(&name, &request, REFUSED);
        }
        if let ToolRequest::Call(_) = &request {
            self.servers_ready().await?;
        }
        let mut proposal = match self.propose(&request).await? {
            Ok(proposal) => proposal,
            Err(why) => return self.not_run(&name, &request, &why),
        };
        let unagreed = self.unagreed(&proposal)?;
        proposal.name_unagreed(unagreed.iter().map(|file| file.path.clone()).collect());
        let asks = verdict == Verdict::Ask || proposal.is_unheld() && verdict == Verdict::Approve;
        let reply = if asks {
            self.env.interrupt.or(self.front.ask(&proposal)).await?
        } else {
            self.front.happens(Event::Approved(&proposal));
            verdict.reply()
        };
        if reply == Reply::Always {
            self.allowed(|allowed| allowed.note(&proposal));
        }
        if asks && reply.agrees() {
            agree(&unagreed, &self.trust())?;
        }
        if let (Verdict::Ask, Reply::NoTerminal) = (verdict, &reply) {
            self.record.wait_for(&name, &request);
            return Ok(Next::Wait);
        }
        if let Reply::NoTerminal | Reply::Edit(_) = reply {
            return Err(Error::usage(format!(
                "no sandbox here can hold the command of request {} to its access",
                name.id
            ))
            .hint(
                "it is still pending; install bubblewrap, or add --unheld to run it with all your rights",
            ));
        }
        match Consent::of(proposal, reply) {
            Consent::Granted(granted) => {
                self.pin_tool(&request)?;
                match self.run_granted(&name, &request, granted).await? {
                    Some(next) => Ok(next),
                    None => self.not_run(&name, &request, CHANGED),
                }
            }
            _ => self.not_run(&name, &request, REFUSED),
        }
    }

    /// Requests that the person allowed for the rest of the session.
    fn allowed<T>(&self, of: impl FnOnce(&mut Allowed) -> T) -> T {
        of(&mut self.env.allowed.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// The proposal that consent is asked for; or for the model why the request cannot be carried out.
    async fn propose(&mut self, request: &ToolRequest) -> Result<std::result::Result<Proposal, String>> {
        match request {
            ToolRequest::Command(request) => Ok(Ok(Proposal::Command(CommandProposal {
                request: request.clone(),
                dir: self.env.store.root().to_path_buf(),
                sandbox: self.env.sandbox.get(self.env.store.root()).await.holding(request.access),
                unagreed: Vec::new(),
            }))),
            ToolRequest::Call(request) => self.propose_call(request).await,
        }
    }

    /// Pins the tool of a call as it was shown when the user agreed to it; a command has no pin.
    fn pin_tool(&self, request: &ToolRequest) -> Result<()> {
        match request {
            ToolRequest::Call(request) => match self.servers.live(request) {
                Some((server, tool)) => self.env.pins.agree(server, tool),
                None => Ok(()),
            },
            ToolRequest::Command(_) => Ok(()),
        }
    }

    /// Runs a granted request and adds its result; `None` if it was not run, as its tool has changed.
    async fn run_granted(
        &mut self,
        name: &Name,
        request: &ToolRequest,
        granted: Granted,
    ) -> Result<Option<Next>> {
        let carried = match granted {
            Granted::Command(granted) => self.carry_out(granted).await.map(Some),
            Granted::Call(granted) => self.call(granted).await,
        };
        let carried = match carried {
            // With a result the request is not pending any more, so it cannot be run a second time by mistake.
            Err(error) if matches!(error.kind, ErrorKind::Signal(_)) => {
                self.result(name, request, b"interrupted: it had begun, and was ended", None)?;
                return Err(error);
            }
            carried => carried?,
        };
        let Some(carried) = carried else { return Ok(None) };
        let result = self.result(name, request, &carried.text, carried.exit)?;
        self.env.runner().journal(&result, request.kind(), &carried);
        Ok(Some(if carried.ran { Next::Again } else { Next::Answer }))
    }

    async fn carry_out(&mut self, granted: GrantedCommand) -> Result<Carried> {
        let readable = self.readable_skills();
        let runner = CommandRunner { readable: &readable, ..self.env.runner() };
        let front = &mut *self.front;
        runner.carry_out(granted, RunBy::Model, &mut |event| front.happens(event)).await
    }

    /// Adds the reason as the result of a request that is not run, and ends tool use for this turn.
    fn not_run(&mut self, name: &Name, request: &ToolRequest, why: &str) -> Result<Next> {
        self.result(name, request, why.as_bytes(), None)?;
        Ok(Next::Answer)
    }

    fn result(&mut self, name: &Name, request: &ToolRequest, text: &[u8], exit: Option<i32>) -> Result<Name> {
        self.record.result(self.front, (name, request), text, exit)
    }
}
