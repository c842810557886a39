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

use super::contract::{PathForm, ProviderSpec, ToolForm};
use super::media::{Accepts, IMAGES};
use crate::planner::Planner;

/// An agent with tools of its own.
pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolForm::Prompt,
    planner: Planner::Off,
    path: PathForm::Program,
    attachments: Accepts::any(IMAGES),
    http: None,
    own_tools: true,
};
