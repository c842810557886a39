//! A model that is an agent of the Agent Client Protocol: a program with its own tools, which runs on between
//! questions.
//!
//! A question is a prompt in one of the agent's sessions. The agent's actions become events, so that they can be
//! recorded; its requests for permission go to the user.

mod agent;
mod pool;
mod run;
mod session;

pub(super) use agent::Agent;
pub(super) use run::Run;
pub(super) use session::{begin, offered};

use super::contract::{PathForm, ProviderSpec, ToolForm};
use super::media::{Accepts, IMAGES};
use crate::planner::Planner;

pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolForm::Prompt,
    planner: Planner::Off,
    path: PathForm::Program,
    attachments: Accepts::any(IMAGES),
    http: None,
    own_tools: true,
};
