//! Values that pass between lepo and an agent with tools of its own, besides its answer.

use serde_json::Value;

/// The place of a question, for an agent that keeps conversations itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct AgentPlace<'a> {
    /// The session of the agent that ends where the question follows.
    pub session: Option<&'a str>,
    /// The folder to work in.
    pub dir: Option<&'a std::path::Path>,
}

/// A tool that an agent called by itself, with what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCall {
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
