//! Reads the body of an HTTP response in batches: all chunks that have arrived at once.
//!
//! A task of its own reads it, because a server sends each token as an HTTP chunk: woken through a
//! queue, the reader takes dozens at a time; woken directly, each would cost two system calls. Where tokens
//! come faster than a person could see, it rests between reads, so that each read has many of them.

use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::Response;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::Timeouts;
use super::http::silent;
use lepo_base::error::{Error, Result, cause};

/// Chunks that may wait for their reader. Each is at most one network read: a few MB in all.
const WAITING: usize = 64;

/// The rest between two reads of a fast body.
const REST: Duration = Duration::from_millis(1);

/// A body counts as fast after so many waits in a row that were shorter than this.
const FAST: u32 = 4;
const SOON: Duration = Duration::from_millis(4);

/// The least size, in bytes, of a chunk of a fast body that is taken without a rest.
const ENOUGH: usize = 32 << 10;

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
            let mut pace = Pace::default();
            loop {
                let mut next = at_hand(&mut response).await;
                if next.is_none() && pace.is_fast(Instant::now()) {
                    // A chunk that was read may still be in hyper's queue.
                    tokio::task::yield_now().await;
                    next = at_hand(&mut response).await;
                    if next.as_ref().is_none_or(is_small) {
                        // The thread sleeps, not the task: that would be woken by every token all the same.
                        thread::sleep(REST);
                        pace.rested(Instant::now());
                    }
                }
                let chunk = match next {
                    Some(chunk) => chunk,
                    None => response.chunk().await,
                };
                let Some(chunk) = chunk.transpose() else { return };
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

/// The next chunk, if it is there.
async fn at_hand(response: &mut Response) -> Option<reqwest::Result<Option<Bytes>>> {
    tokio::select! {
        biased;
        chunk = response.chunk() => Some(chunk),
        () = std::future::ready(()) => None,
    }
}

/// True for a chunk of fewer than [`ENOUGH`] bytes; false for the end of the body and for a failure.
fn is_small(chunk: &reqwest::Result<Option<Bytes>>) -> bool {
    matches!(chunk, Ok(Some(bytes)) if bytes.len() < ENOUGH)
}

/// The pace of a body.
#[derive(Default)]
struct Pace {
    /// The last time that was looked at.
    last: Option<Instant>,
    /// How often that followed shortly after the time before.
    fast: u32,
}

impl Pace {
    /// Nothing is at hand: true if that was so again and again in short succession, and not just now.
    fn is_fast(&mut self, now: Instant) -> bool {
        let gap = self.last.map_or(Duration::MAX, |last| now.saturating_duration_since(last));
        if gap < REST / 4 {
            return false;
        }
        self.fast = if gap < SOON { self.fast.saturating_add(1) } else { 0 };
        self.last = Some(now);
        self.fast >= FAST
    }

    /// A rest is over.
    fn rested(&mut self, now: Instant) {
        self.last = Some(now);
    }
}

/// The error for an answer that stopped before its end mark.
pub(super) fn cut_off(why: &str) -> Error {
    Error::remote(format!("the answer was cut off: {why}")).ask_again()
}

fn broken(error: &reqwest::Error) -> Error {
    cut_off(&cause(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_body_that_goes_on_coming_fast_is_rested_from() {
        let begin = Instant::now();
        let (at_once, soon, late) = (REST / 8, REST / 2, REST * 20);
        let mut pace = Pace::default();
        let mut at = begin;
        for (gap, times, fast) in [
            (soon, FAST, false),
            (soon, 3, true),
            (at_once, 1, false),
            (soon, 1, true),
            (late, 1, false),
            (soon, FAST - 1, false),
            (soon, 1, true),
            (late, 30, false),
            (at_once, 1, false),
        ] {
            for i in 0..times {
                at += gap;
                assert_eq!(pace.is_fast(at), fast, "{gap:?} {i}");
            }
        }
        // A rest itself does not make the time between two reads long.
        let mut pace = Pace { last: Some(begin), fast: FAST };
        pace.rested(begin + REST * 2);
        assert!(pace.is_fast(begin + REST * 2 + soon));
    }

    #[test]
    fn a_small_chunk_waits_for_more_and_the_end_does_not() {
        let chunk = |bytes: usize| Ok(Some(Bytes::from(vec![b'x'; bytes])));
        assert!(is_small(&chunk(1)) && is_small(&chunk(ENOUGH - 1)));
        assert!(!is_small(&chunk(ENOUGH)) && !is_small(&Ok(None)));
    }
}
