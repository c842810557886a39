//! Agents that wait for their next question, until lepo exits.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::AgentProcess;
use super::agent::AgentLaunch;
use crate::notice::ModelNotice;
use lepo_base::error::Result;

/// Most agents that wait.
const MOST: usize = 8;

static WAITING: Mutex<Vec<AgentProcess>> = Mutex::new(Vec::new());

fn idle_agents() -> MutexGuard<'static, Vec<AgentProcess>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns an agent for a model in a folder: a waiting one, preferably with the session open, or else a new one,
/// possibly with a notice.
pub(super) async fn acquire(
    starting: AgentLaunch<'_>,
    session: Option<&str>,
) -> Result<(AgentProcess, Option<ModelNotice>)> {
    let is_held = starting.config.sandbox.is_some();
    let found = if is_held { None } else { waiting_for(starting, session) };
    match found {
        Some(agent) => Ok((agent, None)),
        None => AgentProcess::start(starting).await,
    }
}

fn waiting_for(starting: AgentLaunch<'_>, session: Option<&str>) -> Option<AgentProcess> {
    let mut waiting = idle_agents();
    waiting.retain_mut(AgentProcess::is_alive);
    let fits = |agent: &AgentProcess| {
        let AgentLaunch { config, dir, start, .. } = starting;
        agent.command == config.command && agent.dir == dir && agent.start == *start
    };
    let has = |agent: &AgentProcess| session.is_some_and(|session| agent.open.contains(session));
    let at = waiting.iter().position(|agent| fits(agent) && has(agent));
    at.or_else(|| waiting.iter().position(fits)).map(|at| waiting.remove(at))
}

/// Makes an agent available for the next question.
pub(super) fn give_back(agent: AgentProcess) {
    // A sandboxed agent has its folder to itself, and is cleaned up after when it ends.
    if agent.sandbox_label().is_some() {
        return drop(agent);
    }
    let mut waiting = idle_agents();
    if waiting.len() >= MOST {
        // Dropping it terminates its process tree.
        drop(waiting.remove(0));
    }
    waiting.push(agent);
}
