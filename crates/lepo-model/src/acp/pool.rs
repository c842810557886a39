//! Agents that wait for their next question, as long as lepo's process lives.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Agent;
use lepo_base::error::Result;

/// Agents that wait at most.
const MOST: usize = 8;

static WAITING: Mutex<Vec<Agent>> = Mutex::new(Vec::new());

fn waiting() -> MutexGuard<'static, Vec<Agent>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An agent of this command in this folder: one that waits, with the session if one of them has it, else a new one.
pub(super) async fn take(
    command: &[String],
    dir: &Path,
    session: Option<&str>,
    idle: Duration,
) -> Result<Agent> {
    let found = {
        let mut waiting = waiting();
        waiting.retain_mut(Agent::is_alive);
        let fits = |agent: &Agent| agent.command == command && agent.dir == dir;
        let has = |agent: &Agent| session.is_some_and(|session| agent.open.contains(session));
        let at = waiting.iter().position(|agent| fits(agent) && has(agent));
        at.or_else(|| waiting.iter().position(fits)).map(|at| waiting.remove(at))
    };
    match found {
        Some(agent) => Ok(agent),
        None => Agent::start(command, dir, idle).await,
    }
}

/// Keeps an agent for the next question.
pub(super) fn give_back(agent: Agent) {
    let mut waiting = waiting();
    if waiting.len() >= MOST {
        // It is ended, with all that it started.
        drop(waiting.remove(0));
    }
    waiting.push(agent);
}
