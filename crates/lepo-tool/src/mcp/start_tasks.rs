//! Servers that are starting in the background, each in a task of its own.

use std::time::Instant;

use tokio::task::JoinHandle;

use super::client::{CallFailure, ProcessSetup, ServerTimeouts};
use super::server::Server;
use super::session::StartedSession;

/// The tasks of servers that are starting.
#[derive(Default)]
pub struct StartTasks {
    tasks: Vec<JoinHandle<FinishedStart>>,
}

/// The end of a start.
pub struct FinishedStart {
    /// Index of the server.
    pub server: usize,
    pub session: Result<StartedSession, CallFailure>,
    /// Whether the start used up its time limit.
    pub ran_out: bool,
}

impl StartTasks {
    /// Starts the server at this index.
    pub fn spawn(&mut self, index: usize, server: &Server, setup: &ProcessSetup, patience: ServerTimeouts) {
        let (config, secrets, setup) = (server.config.clone(), server.secrets.clone(), setup.clone());
        self.tasks.push(tokio::spawn(async move {
            let start = Instant::now();
            let session = StartedSession::open(&config, &setup, patience, &secrets, None).await;
            FinishedStart { server: index, session, ran_out: start.elapsed() >= patience.connect }
        }));
    }

    /// Waits for the end of a start; `None` if no server is starting.
    pub async fn next(&mut self) -> Option<FinishedStart> {
        while let Some(task) = self.tasks.last_mut() {
            let finished = task.await;
            self.tasks.pop();
            // A cancelled or panicked task has no session.
            if let Ok(finished) = finished {
                return Some(finished);
            }
        }
        None
    }

    /// Cancels every start, and waits until its program has ended.
    pub async fn abort(&mut self) {
        for task in std::mem::take(&mut self.tasks) {
            task.abort();
            let _ = task.await;
        }
    }
}
