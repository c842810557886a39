//! Consent to an exact request. Only this file can create a [`Grant`] value, and nothing runs without one.

use std::collections::HashSet;

use super::mcp::CallRequest;
use super::unagreed::Unagreed;
use super::{Access, CommandRequest, Sandbox, covers_home};
use crate::{AutoAccess, ToolMode};

/// A question of consent: an exact request, and its circumstances.
#[derive(Debug, Clone, PartialEq)]
pub enum Proposal {
    /// A command.
    Command(CommandProposal),
    /// A call of an MCP server's tool.
    Call(CallProposal),
}

/// A command, and the sandbox that would run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandProposal {
    /// The request.
    pub request: CommandRequest,
    /// The directory in which it would run.
    pub dir: std::path::PathBuf,
    /// The sandbox that would enforce its access; [`Sandbox::None`] if none can.
    pub sandbox: Sandbox,
    /// Texts by others to which nobody has agreed; a yes agrees to them.
    pub unagreed: Vec<Unagreed>,
}

/// A call, and the server's description of the tool.
#[derive(Debug, Clone, PartialEq)]
pub struct CallProposal {
    /// The request.
    pub request: CallRequest,
    /// The server's description of the tool.
    pub description: String,
    /// Fingerprint of the tool's current version: consent covers exactly this one.
    pub tool: String,
    /// Whether the description or the schema differs from the one to which the user last agreed.
    pub changed: bool,
    /// Texts by others to which nobody has agreed; a yes agrees to them.
    pub unagreed: Vec<Unagreed>,
}

impl Proposal {
    /// Grants without asking, in mode `auto`: a sandboxed command up to the access that the user set, or a call of a
    /// tool that has not changed since the user agreed to it. `None` as long as texts by others need agreement.
    pub fn runs_unasked(&self, mode: ToolMode, most: AutoAccess) -> Option<Grant> {
        let unasked = match self {
            Proposal::Command(proposal) => proposal.is_held(most),
            Proposal::Call(proposal) => !proposal.changed,
        };
        (mode == ToolMode::Auto && unasked && self.unagreed().is_empty()).then(|| self.clone().granted())
    }

    /// Whether the request does more than read: a call of a tool, or a command with an access above `read`.
    pub fn is_more_than_reading(&self) -> bool {
        match self {
            Proposal::Command(proposal) => proposal.request.access != Access::Read,
            Proposal::Call(_) => true,
        }
    }

    /// Returns the texts by others to which nobody has agreed; a yes agrees to them.
    pub fn unagreed(&self) -> &[Unagreed] {
        match self {
            Proposal::Command(proposal) => &proposal.unagreed,
            Proposal::Call(proposal) => &proposal.unagreed,
        }
    }

    /// Sets the texts by others to which nobody has agreed.
    pub fn name_unagreed(&mut self, words: Vec<Unagreed>) {
        match self {
            Proposal::Command(proposal) => proposal.unagreed = words,
            Proposal::Call(proposal) => proposal.unagreed = words,
        }
    }

    fn granted(self) -> Grant {
        match self {
            Proposal::Command(CommandProposal { request, sandbox, .. }) => {
                Grant::Command(GrantedCommand { request, sandbox })
            }
            Proposal::Call(CallProposal { request, tool, .. }) => Grant::Call(GrantedCall { request, tool }),
        }
    }
}

impl Proposal {
    /// Whether this is a command with an access below `full` that no sandbox here can enforce.
    pub fn is_unheld(&self) -> bool {
        match self {
            Proposal::Command(proposal) => {
                proposal.sandbox == Sandbox::None && proposal.request.access != Access::Full
            }
            Proposal::Call(_) => false,
        }
    }
}

impl CommandProposal {
    fn is_held(&self, most: AutoAccess) -> bool {
        let most = match most {
            AutoAccess::Read => Access::Read,
            AutoAccess::Write => Access::Write,
            AutoAccess::Net => Access::Net,
        };
        // In a home directory a command could read all of the user's files.
        self.sandbox != Sandbox::None && self.request.access <= most && !covers_home(&self.dir)
    }
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsentReply {
    /// Run it, and agree to the texts by others that the question names.
    Yes,
    /// Run it, and agree to nothing else.
    Once,
    /// Run it, and repeat it without asking for the rest of the session.
    Always,
    /// Do not run it.
    No,
    /// Run this command instead, after asking again.
    Edit(String),
    /// No terminal is available to ask on.
    NoTerminal,
}

impl ConsentReply {
    /// Whether the reply also agrees to the texts by others that the question names.
    pub fn agrees(&self) -> bool {
        matches!(self, ConsentReply::Yes | ConsentReply::Always)
    }
}

/// A request that may be carried out. Only consent creates one.
#[derive(Debug, PartialEq)]
pub enum Grant {
    /// A command.
    Command(GrantedCommand),
    /// A call.
    Call(GrantedCall),
}

/// A command that may run. Its fields are private to this file.
#[derive(Debug, PartialEq, Eq)]
pub struct GrantedCommand {
    request: CommandRequest,
    sandbox: Sandbox,
}

/// A call that may be made. Its fields are private to this file.
#[derive(Debug, PartialEq)]
pub struct GrantedCall {
    request: CallRequest,
    tool: String,
}

impl GrantedCommand {
    /// Grants the user's own command (`--run`, `!`), which needs no consent.
    pub fn by_user(command: &str) -> GrantedCommand {
        let request = CommandRequest { command: command.to_string(), access: Access::Full, why: None };
        GrantedCommand { request, sandbox: Sandbox::None }
    }

    /// Returns the request exactly as granted.
    pub fn request(&self) -> &CommandRequest {
        &self.request
    }

    /// Returns the sandbox that enforces its access, as the question named it.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl GrantedCall {
    /// Returns the request exactly as granted.
    pub fn request(&self) -> &CallRequest {
        &self.request
    }

    /// Returns the fingerprint of the tool that the question described.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

/// Requests allowed for the rest of a session: exact commands, and tools of MCP servers.
#[derive(Debug, Default)]
pub struct AllowedRequests {
    commands: HashSet<(String, Access)>,
    tools: HashSet<(String, String)>,
}

impl AllowedRequests {
    /// Returns the number of allowed commands and tools.
    pub fn count(&self) -> usize {
        self.commands.len() + self.tools.len()
    }

    /// Records a proposal that the user allowed. A command with full access or without a sandbox is asked about each
    /// time.
    pub fn note(&mut self, proposal: &Proposal) {
        match proposal {
            Proposal::Command(CommandProposal { request, sandbox, .. }) => {
                if *sandbox != Sandbox::None && request.access != Access::Full {
                    self.commands.insert((request.command.clone(), request.access));
                }
            }
            Proposal::Call(CallProposal { request, .. }) => {
                self.tools.insert((request.server.clone(), request.tool.clone()));
            }
        }
    }

    /// Grants a proposal that repeats an allowed one: the command in a sandbox, or the tool unchanged. Permission from
    /// one conversation does not extend to another that follows texts by others.
    pub fn grants(&self, proposal: &Proposal) -> Option<Grant> {
        if !proposal.unagreed().is_empty() {
            return None;
        }
        let granted = match proposal {
            Proposal::Command(CommandProposal { request, sandbox, .. }) => {
                *sandbox != Sandbox::None
                    && request.access != Access::Full
                    && self.commands.contains(&(request.command.clone(), request.access))
            }
            Proposal::Call(CallProposal { request, changed, .. }) => {
                !changed && self.tools.contains(&(request.server.clone(), request.tool.clone()))
            }
        };
        granted.then(|| proposal.clone().granted())
    }
}

/// The outcome of a question of consent.
#[derive(Debug, PartialEq)]
pub enum Consent {
    /// The request may be carried out.
    Granted(Grant),
    /// The request may not be carried out, and the model is informed.
    Refused,
    /// The user replaced the command; the new one needs consent next.
    Edited(CommandRequest),
    /// The request is pending: `--approve` or `--deny` decides later.
    Pending,
}

impl Consent {
    /// Returns the outcome of a reply to a proposal.
    pub fn from_reply(proposal: Proposal, reply: ConsentReply) -> Consent {
        match (reply, proposal) {
            (ConsentReply::Yes | ConsentReply::Once | ConsentReply::Always, proposal) => {
                Consent::Granted(proposal.granted())
            }
            (ConsentReply::NoTerminal, _) => Consent::Pending,
            (ConsentReply::Edit(command), Proposal::Command(CommandProposal { request, .. })) => {
                Consent::Edited(CommandRequest { command, ..request })
            }
            // A call cannot be edited.
            (ConsentReply::No | ConsentReply::Edit(_), _) => Consent::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_proposal(request: CommandRequest, dir: &str, sandbox: Sandbox) -> Proposal {
        let (dir, unagreed) = (dir.into(), Vec::new());
        Proposal::Command(CommandProposal { request, dir, sandbox, unagreed })
    }

    fn call_proposal(request: CallRequest, changed: bool) -> Proposal {
        let (description, tool, unagreed) = (String::new(), String::new(), Vec::new());
        Proposal::Call(CallProposal { request, description, tool, changed, unagreed })
    }

    #[test]
    fn while_instructions_are_to_be_agreed_to_auto_asks() {
        let bwrap = || Sandbox::Bubblewrap("/usr/bin/bwrap".into());
        for (access, more) in [(Access::Read, false), (Access::Write, true), (Access::Net, true)] {
            let request = CommandRequest { command: "ls".into(), access, why: None };
            let mut proposal = command_proposal(request, "/usr", bwrap());
            assert_eq!(proposal.is_more_than_reading(), more);
            assert!(proposal.runs_unasked(ToolMode::Auto, AutoAccess::Net).is_some());
            proposal.name_unagreed(vec![Unagreed::File("AGENTS.md".into())]);
            assert_eq!(proposal.runs_unasked(ToolMode::Auto, AutoAccess::Net), None);
        }
        let request = CallRequest { server: "s".into(), tool: "t".into(), arguments: Default::default() };
        let mut proposal = call_proposal(request, false);
        assert!(proposal.is_more_than_reading());
        proposal.name_unagreed(vec![Unagreed::File("AGENTS.md".into())]);
        assert_eq!(proposal.runs_unasked(ToolMode::Auto, AutoAccess::Net), None);
        for (reply, agrees) in [
            (ConsentReply::Yes, true),
            (ConsentReply::Always, true),
            (ConsentReply::Once, false),
            (ConsentReply::No, false),
            (ConsentReply::NoTerminal, false),
        ] {
            assert_eq!(reply.agrees(), agrees, "{reply:?}");
        }
        let mut allowed = AllowedRequests::default();
        allowed.note(&proposal);
        assert_eq!(allowed.grants(&proposal), None, "allowed in a conversation without them");
        proposal.name_unagreed(Vec::new());
        assert!(allowed.grants(&proposal).is_some());
        assert!(matches!(Consent::from_reply(proposal, ConsentReply::Once), Consent::Granted(_)));
    }

    #[test]
    fn auto_runs_what_is_held_up_to_its_access_and_nothing_else() {
        let bwrap = || Sandbox::Bubblewrap("/usr/bin/bwrap".into());
        use AutoAccess as A;
        for (mode, most, access, sandbox, unasked) in [
            (ToolMode::Auto, A::Read, Access::Read, bwrap(), true),
            (ToolMode::Auto, A::Read, Access::Write, bwrap(), false),
            (ToolMode::Auto, A::Write, Access::Write, bwrap(), true),
            (ToolMode::Auto, A::Net, Access::Net, bwrap(), true),
            (ToolMode::Auto, A::Net, Access::Full, bwrap(), false),
            (ToolMode::Auto, A::Net, Access::Read, Sandbox::Landlock, true),
            (ToolMode::Auto, A::Net, Access::Write, Sandbox::Landlock, false),
            (ToolMode::Auto, A::Net, Access::Read, Sandbox::None, false),
            (ToolMode::Manual, A::Net, Access::Read, bwrap(), false),
            (ToolMode::Off, A::Net, Access::Read, bwrap(), false),
        ] {
            let request = CommandRequest { command: "ls".into(), access, why: None };
            let sandbox = sandbox.holding(access);
            let proposal = command_proposal(request, "/usr", sandbox);
            assert_eq!(proposal.runs_unasked(mode, most).is_some(), unasked, "{mode:?} {most:?} {access}");
        }
    }

    #[test]
    fn what_was_allowed_is_that_command_or_tool_and_never_what_nothing_holds() {
        let command = |command: &str, access, sandbox: Sandbox| {
            let request = CommandRequest { command: command.into(), access, why: None };
            command_proposal(request, "/", sandbox)
        };
        let bwrap = || Sandbox::Bubblewrap("/usr/bin/bwrap".into());
        let call = |tool: &str, changed| {
            let request =
                CallRequest { server: "s".into(), tool: tool.into(), arguments: Default::default() };
            call_proposal(request, changed)
        };
        let mut allowed = AllowedRequests::default();
        for proposal in [
            command("ls", Access::Read, bwrap()),
            command("rm x", Access::Full, bwrap()),
            command("cat x", Access::Read, Sandbox::None),
            call("t", false),
        ] {
            assert_eq!(allowed.grants(&proposal), None);
            allowed.note(&proposal);
        }
        for (proposal, granted) in [
            (command("ls", Access::Read, bwrap()), true),
            (command("ls", Access::Write, bwrap()), false),
            (command("ls", Access::Read, Sandbox::None), false),
            (command("ls -l", Access::Read, bwrap()), false),
            (command("rm x", Access::Full, bwrap()), false),
            (command("cat x", Access::Read, bwrap()), false),
            (call("t", false), true),
            (call("t", true), false),
            (call("u", false), false),
        ] {
            assert_eq!(allowed.grants(&proposal).is_some(), granted, "{proposal:?}");
        }
    }

    #[test]
    fn auto_calls_what_the_person_knows() {
        for (mode, changed, unasked) in [
            (ToolMode::Auto, false, true),
            (ToolMode::Auto, true, false),
            (ToolMode::Manual, false, false),
            (ToolMode::Off, false, false),
        ] {
            let request = CallRequest { server: "s".into(), tool: "t".into(), arguments: Default::default() };
            let proposal = call_proposal(request, changed);
            assert_eq!(
                proposal.runs_unasked(mode, AutoAccess::Read).is_some(),
                unasked,
                "{mode:?} {changed}"
            );
        }
    }
}
