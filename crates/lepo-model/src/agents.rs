//! Values that pass between lepo and an agent with tools of its own, besides its answer.

use std::any::Any;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde_json::Value;

use super::notice::Notice;
use lepo_base::error::Result;
use lepo_base::word::Word;
use lepo_process::{Program, StartFolder};

/// The place of a question, for an agent that keeps conversations itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct AgentPlace<'a> {
    /// The session of the agent that ends where the question follows.
    pub session: Option<&'a str>,
    /// Something else follows there already: the session stays as it is, for that.
    pub forks: bool,
    /// The folder to work in.
    pub dir: Option<&'a Path>,
}

/// The access of an agent that is started in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentAccess {
    /// Looks at things, without a network.
    Read,
    /// Writes in its folder, without a network.
    Write,
    /// The same with a network.
    Net,
}

impl AgentAccess {
    /// All of them.
    pub const ALL: &[AgentAccess] = &[AgentAccess::Read, AgentAccess::Write, AgentAccess::Net];
}

impl Word for AgentAccess {
    fn word(self) -> &'static str {
        match self {
            AgentAccess::Read => "read",
            AgentAccess::Write => "write",
            AgentAccess::Net => "net",
        }
    }
}

/// The sandbox that an agent is started in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSandbox {
    /// Its access.
    pub access: AgentAccess,
    /// Folders of its own that it may write in besides; `~/` is the home directory.
    pub home: Vec<PathBuf>,
}

/// The command of an agent, and where it is started.
#[derive(Debug, Clone, Copy)]
pub struct ToHold<'a> {
    /// Name of the model.
    pub model: &'a str,
    /// Program and arguments.
    pub command: &'a [String],
    /// The sandbox that is configured.
    pub sandbox: &'a AgentSandbox,
    /// The folder to work in.
    pub dir: &'a Path,
    /// The folder in which the program starts.
    pub start: &'a StartFolder,
}

/// A program that starts in a sandbox.
pub struct HeldAgent {
    /// The program.
    pub program: Program,
    /// The sandbox in words, for the question of consent.
    pub words: String,
    /// Notice for the person, the first time.
    pub note: Option<Notice>,
    /// To be dropped after the program has ended.
    pub rest: Box<dyn Any + Send>,
}

/// Puts agents into a sandbox; this crate has no sandbox.
pub trait HoldAgents: Send + Sync {
    /// Prepares the program of an agent. Fails where no sandbox can hold it.
    fn hold<'h>(&'h self, agent: ToHold<'h>) -> Pin<Box<dyn Future<Output = Result<HeldAgent>> + 'h>>;
}

/// A tool that an agent called by itself, with what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCall {
    /// The agent's id of the call.
    pub id: String,
    /// Description of the call, in a line.
    pub title: String,
    /// Input of the tool.
    pub input: Value,
    /// Output of the call.
    pub result: String,
}

/// A question of an agent for permission.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentQuestion {
    /// The number by which it is answered.
    pub number: u64,
    /// Action that the agent asks for, in a line.
    pub title: String,
    /// Its details.
    pub details: String,
    /// The agent can be told to ask no more about the same; what that is, it decides.
    pub offers_always: bool,
    /// The sandbox that holds it, in words; none holds it without.
    pub held: Option<String>,
}

/// The person's answer to such a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    /// Yes, this once.
    Once,
    /// Yes, and as long as the agent means by that.
    Always,
    /// No.
    No,
    /// No person can be asked.
    Nobody,
}
