//! The log line about a request, written when it ends: at `info` with its token counts, at `warn` if it failed.

use std::time::Instant;

use super::event::Usage;
use lepo_base::error::Error;

/// A request in progress. If it is dropped before its end, it is logged as stopped.
pub(super) struct RequestLog {
    model: String,
    start: Instant,
    /// The HTTP status, once it is known.
    status: Option<u16>,
    usage: Usage,
    has_ended: bool,
}

impl RequestLog {
    pub fn start(model: &str) -> RequestLog {
        let (start, usage) = (Instant::now(), Usage::default());
        RequestLog { model: model.to_owned(), start, status: None, usage, has_ended: false }
    }

    pub fn status(&mut self, status: u16) {
        self.status = Some(status);
    }

    pub fn usage(&mut self, usage: Usage) {
        self.usage = usage;
    }

    /// Logs that the answer is complete.
    pub fn log_answer(&mut self) {
        self.end("answered");
    }

    /// Logs that the answer is missing or incomplete. `error` must not contain a key.
    pub fn log_failure(&mut self, error: &Error) {
        if !std::mem::replace(&mut self.has_ended, true) {
            let (model, status, ms) = (&self.model, self.status, self.ms());
            tracing::warn!(model, status, ms, error = error.chain(), "request failed");
        }
    }

    fn end(&mut self, how: &str) {
        if !std::mem::replace(&mut self.has_ended, true) {
            let Usage { input, cached, output, .. } = self.usage;
            let (model, status, ms) = (&self.model, self.status, self.ms());
            tracing::info!(model, status, input, cached, output, ms, "request {how}");
        }
    }

    fn ms(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        self.end("stopped");
    }
}
