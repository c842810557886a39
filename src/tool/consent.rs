//! A person's yes to one exact request. Only this file can make a [`Granted`], and nothing runs without one.

use super::{Access, CommandRequest, Sandbox};
use crate::config::{AutoAccess, ToolMode};

/// What is put before the person: one exact request, and what would hold it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The request.
    pub request: CommandRequest,
    /// Where it would run.
    pub dir: std::path::PathBuf,
    /// What would hold it to its access; nothing, where that cannot be held.
    pub sandbox: Sandbox,
}

impl Proposal {
    /// What `auto` runs without a question: what a sandbox holds, up to the access the person set.
    pub fn runs_unasked(&self, mode: ToolMode, most: AutoAccess) -> Option<Granted> {
        let most = match most {
            AutoAccess::Read => Access::Read,
            AutoAccess::Write => Access::Write,
            AutoAccess::Net => Access::Net,
        };
        let unasked = mode == ToolMode::Auto && self.sandbox != Sandbox::None && self.request.access <= most;
        unasked.then(|| Granted { request: self.request.clone(), sandbox: self.sandbox.clone() })
    }
}

/// What the person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Run it.
    Yes,
    /// Do not.
    No,
    /// Run this command instead, after asking again.
    Edit(String),
    /// There is nobody to ask.
    Nobody,
}

/// A request that may be carried out. Its field is private: consent makes it, or nothing does.
#[derive(Debug, PartialEq, Eq)]
pub struct Granted {
    request: CommandRequest,
    sandbox: Sandbox,
}

impl Granted {
    /// The user's own command (`--run`, `!`): the person at the wheel needs nobody's leave.
    pub fn by_user(command: &str) -> Granted {
        let request = CommandRequest { command: command.to_string(), access: Access::Full, why: None };
        Granted { request, sandbox: Sandbox::None }
    }

    /// What was granted, to the letter.
    pub fn request(&self) -> &CommandRequest {
        &self.request
    }

    /// What holds it, as the person was shown.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }
}

/// What came of asking.
#[derive(Debug, PartialEq, Eq)]
pub enum Consent {
    /// It may run.
    Granted(Granted),
    /// It may not, and the model is told.
    Refused,
    /// Another request took its place; that one is asked about next.
    Edited(CommandRequest),
    /// It waits for somebody.
    Pending,
}

impl Consent {
    /// Weighs a reply to a proposal.
    pub fn of(proposal: Proposal, reply: Reply) -> Consent {
        match reply {
            Reply::Yes => Consent::Granted(Granted { request: proposal.request, sandbox: proposal.sandbox }),
            Reply::No => Consent::Refused,
            Reply::Nobody => Consent::Pending,
            Reply::Edit(command) if command == proposal.request.command => Consent::Edited(proposal.request),
            Reply::Edit(command) => Consent::Edited(CommandRequest { command, ..proposal.request }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let proposal = Proposal { request, dir: "/".into(), sandbox };
            assert_eq!(proposal.runs_unasked(mode, most).is_some(), unasked, "{mode:?} {most:?} {access}");
        }
    }
}
