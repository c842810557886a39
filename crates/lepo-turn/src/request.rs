//! One request of a model, from consent to result. A planner's request and a call of the model take the same way.

use super::agents::agree;
use super::command_runner::{Carried, CommandRunner};
use super::decision::{Decision, Verdict};
use super::flow::Turn;
use super::{Event, RunBy};
use lepo_base::error::{Error, Kind as ErrorKind, Result};
use lepo_store::bubb::Name;
use lepo_tool::mcp::CallRequest;
use lepo_tool::{
    Allowed, CallProposal, CommandProposal, Consent, Granted, GrantedCommand, Proposal, Reply, ToolMode,
    ToolRequest,
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
        let granted = loop {
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
            let Some(mut proposal) = self.propose(&request).await? else {
                return self.not_run(&name, &request, &self.not_there(&request));
            };
            let (mode, most) = (self.env.settings().tool_call_mode, self.env.settings().auto_access);
            // A replay runs nothing by itself.
            let mode = if self.results.is_some() { ToolMode::Manual } else { mode };
            let unagreed = self.unagreed(&proposal)?;
            proposal.name_unagreed(unagreed.iter().map(|file| file.path.clone()).collect());
            if let Some(granted) = proposal.runs_unasked(mode, most) {
                self.front.happens(Event::Announce(&proposal));
                break granted;
            }
            if let Some(granted) = self.allowed(|allowed| allowed.grants(&proposal)) {
                self.front.happens(Event::Announce(&proposal));
                break granted;
            }
            let reply = self.env.interrupt.or(self.front.ask(&proposal)).await?;
            if reply == Reply::Always {
                self.allowed(|allowed| allowed.note(&proposal));
            }
            if reply.agrees() {
                agree(&unagreed, &self.trust())?;
            }
            match Consent::of(proposal, reply) {
                Consent::Granted(granted) => {
                    self.pin_tool(&request)?;
                    if let ToolRequest::Command(request) = &request {
                        self.front.happens(Event::CommandStarted(&request.command));
                    }
                    break granted;
                }
                Consent::Edited(edited) => {
                    let edited = ToolRequest::Command(edited);
                    if edited != request {
                        name = self.add(name.kind, true, edited.canonical().as_bytes())?;
                        _claim = self.env.store.requests().claim(name.id)?;
                        request = edited;
                    }
                }
                Consent::Refused => return self.not_run(&name, &request, REFUSED),
                Consent::Pending if !self.env.keeps => return self.not_run(&name, &request, NOBODY),
                Consent::Pending => {
                    self.record.wait_for(&name, &request);
                    return Ok(Next::Wait);
                }
            }
        };
        done.push(request.clone());
        self.run_granted(&name, &request, granted).await
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
        let Some(proposal) = self.propose(&request).await? else {
            return self.not_run(&name, &request, &self.not_there(&request));
        };
        let reply = if proposal.is_unheld() && verdict == Verdict::Approve {
            self.env.interrupt.or(self.front.ask(&proposal)).await?
        } else {
            self.front.happens(Event::Approved(&proposal));
            verdict.reply()
        };
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
                self.run_granted(&name, &request, granted).await
            }
            _ => self.not_run(&name, &request, REFUSED),
        }
    }

    /// Requests that the person allowed for the rest of the session.
    fn allowed<T>(&self, of: impl FnOnce(&mut Allowed) -> T) -> T {
        of(&mut self.env.allowed.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// The proposal that consent is asked for; `None` for a tool that does not exist.
    async fn propose(&self, request: &ToolRequest) -> Result<Option<Proposal>> {
        match request {
            ToolRequest::Command(request) => Ok(Some(Proposal::Command(CommandProposal {
                request: request.clone(),
                dir: self.env.store.root().to_path_buf(),
                sandbox: self.env.sandbox.get(self.env.store.root()).await.holding(request.access),
                unagreed: Vec::new(),
            }))),
            ToolRequest::Call(request) => {
                let Some((server, tool)) = self.servers.find(request) else { return Ok(None) };
                let changed = !self.env.pins.holds(server, tool)?;
                let (request, description) = (request.clone(), tool.description.clone());
                Ok(Some(Proposal::Call(CallProposal { request, description, changed, unagreed: Vec::new() })))
            }
        }
    }

    /// Pins the tool of a call as it was shown when the user agreed to it; a command has no pin.
    fn pin_tool(&self, request: &ToolRequest) -> Result<()> {
        match request {
            ToolRequest::Call(request) => match self.servers.find(request) {
                Some((server, tool)) => self.env.pins.agree(server, tool),
                None => Ok(()),
            },
            ToolRequest::Command(_) => Ok(()),
        }
    }

    /// Runs a granted request and adds its result.
    async fn run_granted(&mut self, name: &Name, request: &ToolRequest, granted: Granted) -> Result<Next> {
        let carried = match granted {
            Granted::Command(granted) => self.carry_out(granted).await,
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
        let result = self.result(name, request, &carried.text, carried.exit)?;
        self.env.runner().journal(&result, request.kind(), &carried);
        Ok(if carried.ran { Next::Again } else { Next::Answer })
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

    /// Why a request for a tool that is not there cannot be carried out, for the model.
    fn not_there(&self, request: &ToolRequest) -> String {
        match request {
            ToolRequest::Call(CallRequest { server, tool, .. }) => match self.servers.not_up(server) {
                Some(not_up) => format!("error: {not_up}"),
                None => format!("error: there is no tool {tool:?} of a server {server:?}"),
            },
            ToolRequest::Command(_) => "error: there are no commands".to_string(),
        }
    }

    fn result(&mut self, name: &Name, request: &ToolRequest, text: &[u8], exit: Option<i32>) -> Result<Name> {
        self.record.result(self.front, (name, request), text, exit)
    }
}
