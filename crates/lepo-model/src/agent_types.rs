//! Values that lepo and an agent with its own tools exchange, in addition to the answer.

use std::any::Any;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde_json::Value;

use super::notice::ModelNotice;
use lepo_base::error::Result;
use lepo_base::keyword::Keyword;
use lepo_process::{Program, StartFolder};

/// The position of a question, for an agent that stores conversations itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct AgentContext<'a> {
    /// The agent's session that ends at the message before the question.
    pub session: Option<&'a str>,
    /// Whether another message already follows there: then the session must stay unchanged.
    pub forks: bool,
    /// The folder to work in.
    pub dir: Option<&'a Path>,
}

/// The access of a sandboxed agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentAccess {
    /// Reads files, without a network.
    Read,
    /// Writes in its folder, without a network.
    Write,
    /// Writes in its folder, with a network.
    Net,
}

impl AgentAccess {
    /// All of them.
    pub const ALL: &[AgentAccess] = &[AgentAccess::Read, AgentAccess::Write, AgentAccess::Net];
}

impl Keyword for AgentAccess {
    fn as_str(self) -> &'static str {
        match self {
            AgentAccess::Read => "read",
            AgentAccess::Write => "write",
            AgentAccess::Net => "net",
        }
    }
}

/// The configured sandbox of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSandbox {
    /// The access in the sandbox.
    pub access: AgentAccess,
    /// The agent's own folders that it may write, in addition; `~/` is the home directory.
    pub home: Vec<PathBuf>,
}

/// The command of an agent, with the parameters of its sandbox.
#[derive(Debug, Clone, Copy)]
pub struct AgentCommand<'a> {
    /// The name of the model.
    pub model: &'a str,
    /// The program and its arguments.
    pub command: &'a [String],
    /// The configured sandbox.
    pub sandbox: &'a AgentSandbox,
    /// The folder to work in.
    pub dir: &'a Path,
    /// The folder in which the program starts.
    pub start: &'a StartFolder,
}

/// A program that starts in a sandbox.
pub struct SandboxedAgent {
    /// The program, ready to start.
    pub program: Program,
    /// The description of the sandbox, for consent questions.
    pub description: String,
    /// A notice for the user, at the first start.
    pub note: Option<ModelNotice>,
    /// To be dropped after the program has ended.
    pub rest: Box<dyn Any + Send>,
}

/// Sandboxes agents; this crate has no sandbox itself.
pub trait AgentSandboxer: Send + Sync {
    /// Prepares the program of an agent. Fails if no sandbox is available.
    fn sandbox_agent<'h>(
        &'h self,
        agent: AgentCommand<'h>,
    ) -> Pin<Box<dyn Future<Output = Result<SandboxedAgent>> + 'h>>;
}

/// A tool that an agent called on its own, with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCall {
    /// The agent's id for the call.
    pub id: String,
    /// A description in one line.
    pub title: String,
    /// The input of the tool.
    pub input: Value,
    /// The output of the tool.
    pub result: String,
}

/// A question of an agent for permission.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentQuestion {
    /// The number for the answer.
    pub number: u64,
    /// The requested action, in one line.
    pub title: String,
    /// The details of the action, in several lines.
    pub details: String,
    /// Whether the agent offers to stop asking about similar actions; the agent decides what is similar.
    pub offers_always: bool,
    /// The description of its sandbox; `None` if it is not sandboxed.
    pub sandbox: Option<String>,
}

/// The user's answer to such a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionReply {
    /// Yes, once.
    Once,
    /// Yes, and for as long as the agent defines.
    Always,
    /// No, this time.
    No,
    /// Nobody can be asked.
    Nobody,
}
