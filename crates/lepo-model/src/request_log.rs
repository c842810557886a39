//! The log's line about a request, written when it ends: at `info` with its price, at `warn` if it failed.

use std::time::Instant;

use super::event::Usage;
use lepo_base::error::Error;

/// A request that is under way. Dropped before its end, it is logged as stopped.
pub(super) struct RequestLog {
    model: String,
    start: Instant,
    /// The HTTP status, where there is one.
    status: Option<u16>,
    usage: Usage,
    ended: bool,
}

impl RequestLog {
    /// A request to the model of this name begins.
    pub fn begin(model: &str) -> RequestLog {
        let (start, usage) = (Instant::now(), Usage::default());
        RequestLog { model: model.to_owned(), start, status: None, usage, ended: false }
    }

    /// The status of its response.
    pub fn status(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// The tokens of its answer.
    pub fn usage(&mut self, usage: Usage) {
        self.usage = usage;
    }

    /// Logs that the answer is complete.
    pub fn answered(&mut self) {
        self.end("answered");
    }

    /// Logs that no answer came, or a part of one. `error` has no key in it.
    pub fn failed(&mut self, error: &Error) {
        if !std::mem::replace(&mut self.ended, true) {
            let (model, status, ms) = (&self.model, self.status, self.ms());
            tracing::warn!(model, status, ms, error = error.chain(), "request failed");
        }
    }

    fn end(&mut self, how: &str) {
        if !std::mem::replace(&mut self.ended, true) {
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
