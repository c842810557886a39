//! Reads the body of an HTTP response in batches: all chunks that have arrived at once.
//!
//! A task of its own reads it, because a server sends each token as an HTTP chunk: woken through a
//! queue, the reader takes dozens at a time; woken directly, each would cost two system calls.

use bytes::Bytes;
use reqwest::Response;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::http::silent;
use super::timeouts::Timeouts;
use lepo_base::error::{Error, Result, cause};

/// Chunks that may wait for their reader. Each is at most one network read: a few MB in all.
const WAITING: usize = 64;

/// An answer's body. Dropped before its end, it closes the connection.
pub(super) struct Body {
    chunks: mpsc::Receiver<reqwest::Result<Bytes>>,
    pump: JoinHandle<()>,
    place: String,
    timeouts: Timeouts,
    ended: bool,
}

impl Body {
    /// The body of `response`, which came from `place`.
    pub fn new(mut response: Response, place: String, timeouts: Timeouts) -> Self {
        let (sender, chunks) = mpsc::channel(WAITING);
        let pump = tokio::spawn(async move {
            while let Some(chunk) = response.chunk().await.transpose() {
                let broken = chunk.is_err();
                if sender.send(chunk).await.is_err() || broken {
                    return;
                }
            }
        });
        Body { chunks, pump, place, timeouts, ended: false }
    }

    /// Everything that has arrived, one item at least; nothing at the end.
    ///
    /// Bytes that arrived before a failure come first, as `Ok` items. Silence is a failure after the idle
    /// timeout, or at once after `patience` if that is shorter.
    pub async fn batch(&mut self, patience: std::time::Duration) -> Result<Vec<Result<Bytes>>> {
        let mut batch = Vec::new();
        let limit = patience.min(self.timeouts.idle);
        if timeout(limit, self.chunks.recv_many(&mut batch, WAITING)).await.is_err() {
            return Err(silent(&self.place, self.timeouts));
        }
        self.ended = batch.is_empty();
        Ok(batch.into_iter().map(|chunk| chunk.map_err(|e| broken(&e.without_url()))).collect())
    }

    /// Lets the connection live on: its answer is complete, only the body's own end is outstanding.
    pub fn finish(&mut self) {
        self.ended = true;
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if !self.ended {
            self.pump.abort();
        }
    }
}

/// The error for an answer that stopped before its end mark.
pub(super) fn cut_off(why: &str) -> Error {
    Error::remote(format!("the answer was cut off: {why}")).ask_again()
}

fn broken(error: &reqwest::Error) -> Error {
    cut_off(&cause(error))
}
