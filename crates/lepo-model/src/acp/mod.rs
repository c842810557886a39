//! A model that is an agent of the Agent Client Protocol: a program with tools of its own, kept between questions.
//!
//! One question is one prompt of a session of the agent's. What it does on the way is told as events, so that it can
//! be recorded; what it asks for permission to do is asked of the person.

mod agent;
mod pool;
mod run;
mod session;

pub(super) use agent::Agent;
pub(super) use run::Run;
pub(super) use session::{begin, offered};

use serde_json::Value;

use super::media::{Accepts, IMAGES};
use super::spec::{PathForm, ProviderSpec, ToolWire};
use crate::planner::Planner;

/// An agent with tools of its own.
pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolWire::Prompt,
    planner: Planner::Off,
    path: PathForm::Program,
    attachments: Accepts::any(IMAGES),
    http: None,
    own_tools: true,
};

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
    /// What it did, in a line.
    pub title: String,
    /// What the tool was called with.
    pub input: Value,
    /// What came of it.
    pub result: String,
}

/// A question of an agent for permission.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentQuestion {
    /// The number by which it is answered.
    pub number: u64,
    /// What the agent wants to do, in a line.
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
    /// Nobody can be asked.
    Nobody,
}
