//! A model that is an agent of the Agent Client Protocol: a program with its own tools, which runs on between
//! questions.
//!
//! A question is a prompt in one of the agent's sessions. The agent's actions become events, so that they can be
//! recorded; its requests for permission go to the user.

mod agent;
mod pool;
mod run;
mod session;

pub(super) use agent::AgentProcess;
pub(super) use run::AgentAnswer;
pub(super) use session::{offered, start_prompt};

use super::contract::{ConversationFormat, ProviderSpec, ToolFormat};
use super::media::{FileSupport, IMAGES};
use crate::planner::Planner;

pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolFormat::Prompt,
    planner: Planner::Off,
    path: ConversationFormat::Program,
    attachments: FileSupport::any(IMAGES),
    http: None,
    own_tools: true,
};
