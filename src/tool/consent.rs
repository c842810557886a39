//! A person's yes to one exact request. Only this file can make a [`Granted`], and nothing runs without one.

use super::{Access, CommandRequest};

/// What holds a command back while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    /// Nothing: the question says so, and nothing runs unasked.
    None,
}

/// What is put before the person: one exact request, and what would hold it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The request.
    pub request: CommandRequest,
    /// Where it would run.
    pub dir: std::path::PathBuf,
    /// What would hold it.
    pub sandbox: Sandbox,
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
}

impl Granted {
    /// The user's own command (`--run`, `!`): the person at the wheel needs nobody's leave.
    pub fn by_user(command: &str) -> Granted {
        Granted { request: CommandRequest { command: command.to_string(), access: Access::Full, why: None } }
    }

    /// What was granted, to the letter.
    pub fn request(&self) -> &CommandRequest {
        &self.request
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
            Reply::Yes => Consent::Granted(Granted { request: proposal.request }),
            Reply::No => Consent::Refused,
            Reply::Nobody => Consent::Pending,
            Reply::Edit(command) if command == proposal.request.command => Consent::Edited(proposal.request),
            Reply::Edit(command) => Consent::Edited(CommandRequest { command, ..proposal.request }),
        }
    }
}
