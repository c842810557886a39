//! Processes many items on several threads and returns the results in the items' order.
//!
//! Small files cost system calls rather than bytes, so a second processor halves the time.

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

/// How items are distributed to the threads.
struct Pace {
    /// Number of items processed before threads are spawned, which costs as much as reading a few hundred small
    /// files.
    first: usize,
    /// Number of items sent at a time: enough to make the cost of sending negligible.
    batch: usize,
    /// Number of batches queued for each thread.
    ahead: usize,
}

/// For files, mostly small ones.
const FILES: Pace = Pace { first: 512, batch: 128, ahead: 4 };
/// For work of a few milliseconds per item.
const LONG: Pace = Pace { first: 0, batch: 1, ahead: 2 };

/// Passes the result of `work` for each item to `each`, in order, until it breaks. The first items are processed on
/// this thread: their results come soonest, and often there are no others.
pub fn in_order<T: Send, R: Send>(
    items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    each: impl FnMut(R) -> ControlFlow<()>,
) {
    at_pace(&FILES, processors(), items, work, each);
}

/// Like [`in_order`], for few items with slow work: none is processed on this thread.
pub fn few_in_order<T: Send, R: Send>(
    items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    each: impl FnMut(R) -> ControlFlow<()>,
) {
    at_pace(&LONG, processors(), items, work, each);
}

/// Returns the number of processors for this process, which is read once, because that opens three files.
pub fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

fn at_pace<T: Send, R: Send>(
    pace: &Pace,
    threads: usize,
    mut items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    mut each: impl FnMut(R) -> ControlFlow<()>,
) {
    // A single processor gains nothing from threads.
    let first = if threads > 1 { pace.first } else { usize::MAX };
    for item in items.by_ref().take(first) {
        if each(work(item)).is_break() {
            return;
        }
    }
    let mut batches = std::iter::from_fn(|| {
        let batch: Vec<T> = items.by_ref().take(pace.batch).collect();
        (!batch.is_empty()).then_some(batch)
    })
    .fuse()
    .peekable();
    if batches.peek().is_none() {
        return;
    }
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map_while(|_| {
                let (batch_sender, batch_receiver) = sync_channel::<Vec<T>>(pace.ahead);
                let (result_sender, result_receiver) = channel::<Vec<R>>();
                let thread = thread::Builder::new().spawn_scoped(scope, move || {
                    // Ends when all work is done, or the receiver is dropped.
                    for batch in batch_receiver {
                        if result_sender.send(batch.into_iter().map(work).collect()).is_err() {
                            return;
                        }
                    }
                });
                thread.is_ok().then_some((batch_sender, result_receiver))
            })
            .collect();
        if threads.is_empty() {
            // If no thread can be spawned, this thread does the work.
            let _ = batches.flatten().try_for_each(|item| each(work(item)));
            return;
        }
        // Batches go to the threads in rotation, so that the next results always come from the next thread.
        let (mut sent, mut received) = (0, 0);
        loop {
            while sent - received < pace.ahead * threads.len()
                && let Some(batch) = batches.next()
            {
                if threads[sent % threads.len()].0.send(batch).is_err() {
                    break;
                }
                sent += 1;
            }
            if received == sent {
                return;
            }
            let Ok(results) = threads[received % threads.len()].1.recv() else { return };
            received += 1;
            for result in results {
                if each(result).is_break() {
                    return;
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_stop_when_told() {
        for (items, stop, expected) in [
            (0, 9, 0),
            (5, 9, 5),
            (512, 999, 512),
            (513, 999, 513),
            (10_000, 99_999, 10_000),
            (10_000, 3_000, 3_000),
        ] {
            for (pace, threads) in [(&FILES, 2), (&LONG, 2), (&LONG, 1)] {
                let mut seen = Vec::new();
                let each = |doubled: usize| {
                    seen.push(doubled / 2);
                    if seen.len() == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                at_pace(pace, threads, 0..items, |i| i * 2, each);
                assert_eq!(seen, (0..expected).collect::<Vec<_>>(), "{items} {stop}");
            }
        }
    }
}
