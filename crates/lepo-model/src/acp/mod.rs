//! A model that is an agent of the Agent Client Protocol: a program with its own tools, which runs on between
//! questions.
//!
//! A question is a prompt in one of the agent's sessions. The agent's actions become events, so that they can be
//! recorded; its requests for permission go to the user.

mod agent;
mod answer;
mod pool;
mod session;

pub(super) use agent::AgentProcess;
pub(super) use answer::AgentAnswer;
pub(super) use session::{offered_models, start_prompt};

use super::media::{FileSupport, IMAGES};
use super::provider_spec::{ConversationFormat, ProviderSpec, ToolFormat};
use crate::provider_spec::Planner;

pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolFormat::Prompt,
    planner: Planner::Off,
    path: ConversationFormat::Program,
    attachments: FileSupport::any(IMAGES),
    http: None,
    own_tools: true,
};
