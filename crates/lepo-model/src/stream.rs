//! An answer over HTTP: its bytes in batches, the decoded events, and the first event or failure.
//!
//! A separate task reads the body, because a server sends each token as an HTTP chunk: through a queue the reader
//! gets dozens at a time; without it, each chunk would cost two system calls.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::answer_reader::{AnswerReader, StreamRefusal};
use super::config::Timeouts;
use super::event::EventQueue;
use super::http::silent;
use super::unpack::Unpacking;
use lepo_base::error::{Error, Result, cause};

/// The time to wait for the usage and `[DONE]` once the answer itself is complete.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bytes of an answer, and their decoder.
pub(super) struct HttpStream {
    body: ResponseBody,
    reader: Box<dyn AnswerReader>,
}

impl HttpStream {
    /// Waits for bytes once, and decodes all that have arrived.
    pub async fn read_more(&mut self, events: &mut EventQueue) -> Result<()> {
        let HttpStream { body, reader } = self;
        let finishing = reader.is_finishing();
        let patience = if finishing { PATIENCE } else { Duration::MAX };
        let batch = match body.batch(patience).await {
            Ok(batch) => batch,
            // The answer is complete, so a missing usage is not a failure.
            Err(_) if finishing => Vec::new(),
            Err(error) => return Err(error),
        };
        if batch.is_empty() {
            return reader.finish(events);
        }
        for chunk in batch {
            match chunk {
                Ok(bytes) => reader.read(&bytes, events)?,
                Err(_) if reader.is_finishing() => return reader.finish(events),
                Err(error) => return Err(error),
            }
            if reader.is_done() {
                // The answer is complete, whatever follows on the connection, which stays open for the next
                // request.
                body.finish();
                break;
            }
        }
        Ok(())
    }
}

/// An answer over HTTP with its first event or failure.
pub(super) struct StartedAnswer {
    pub source: HttpStream,
    pub events: EventQueue,
    pub failure: Option<Error>,
    pub status: u16,
    refused: Option<StreamRefusal>,
}

impl StartedAnswer {
    pub async fn wait(status: u16, body: ResponseBody, reader: Box<dyn AnswerReader>) -> StartedAnswer {
        let mut source = HttpStream { body, reader };
        let mut events = EventQueue::new();
        let mut failure = None;
        while events.is_empty() && failure.is_none() {
            failure = source.read_more(&mut events).await.err();
        }
        let refused = if events.is_empty() { source.reader.refusal() } else { None };
        StartedAnswer { source, events, failure, refused, status }
    }

    /// Returns the refusal that arrived instead of an answer.
    pub fn refusal(&self) -> Option<StreamRefusal> {
        self.refused.clone()
    }

    /// Returns the failure that arrived instead of events.
    pub fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }
}

/// The capacity of the queue in chunks. Each is at most one network read: some megabytes in total.
const WAITING: usize = 64;

/// The body of an answer. Dropping it before its end closes the connection.
pub(super) struct ResponseBody {
    chunks: mpsc::Receiver<Result<Bytes>>,
    pump: JoinHandle<()>,
    url: String,
    timeouts: Timeouts,
    has_ended: bool,
}

impl ResponseBody {
    /// Creates the body of `response`; the URL is for messages.
    pub fn new(mut response: Response, url: String, timeouts: Timeouts) -> Self {
        let (sender, chunks) = mpsc::channel(WAITING);
        let pump = tokio::spawn(async move {
            let mut unpacking = Unpacking::default();
            while let Some(chunk) = response.chunk().await.transpose() {
                let chunk = chunk.map_err(|error| broken(&error.without_url())).and_then(|bytes| {
                    unpacking.feed(bytes).map_err(|error| cut_off(&format!("its gzip is broken: {error}")))
                });
                let is_broken = chunk.is_err();
                if sender.send(chunk).await.is_err() || is_broken {
                    return;
                }
            }
            let _ = sender.send(Ok(unpacking.end())).await;
        });
        ResponseBody { chunks, pump, url, timeouts, has_ended: false }
    }

    /// Returns all chunks that have arrived, at least one; empty at the end.
    ///
    /// Bytes before a failure are returned first, as `Ok` items. Silence is a failure after the idle timeout, or
    /// after `patience` if that is shorter.
    pub async fn batch(&mut self, patience: Duration) -> Result<Vec<Result<Bytes>>> {
        let mut batch = Vec::new();
        let limit = patience.min(self.timeouts.idle);
        if timeout(limit, self.chunks.recv_many(&mut batch, WAITING)).await.is_err() {
            return Err(silent(&self.url, self.timeouts));
        }
        self.has_ended = batch.is_empty();
        Ok(batch)
    }

    /// Leaves the connection open: the answer is complete, and only the body's own end is outstanding.
    pub fn finish(&mut self) {
        self.has_ended = true;
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        if !self.has_ended {
            self.pump.abort();
        }
    }
}

/// Returns the error for an answer without an end mark.
pub(super) fn cut_off(why: &str) -> Error {
    Error::remote(format!("the answer was cut off: {why}")).ask_again()
}

fn broken(error: &reqwest::Error) -> Error {
    cut_off(&cause(error))
}
