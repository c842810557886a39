//! Reading ahead: the same work for many items on several threads, its results in the items' order.
//!
//! Small files cost system calls, not bytes, so a second processor halves the time.

use std::ops::ControlFlow;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

/// The pace at which items are handed to the threads.
struct Pace {
    /// Items worked on before any thread is started, which costs as much as a few hundred small files.
    first: usize,
    /// The number of items handed over at a time: enough that handing over costs nothing beside them.
    batch: usize,
    /// Batches given to each thread ahead of the one whose results are waited for.
    ahead: usize,
}

/// For files, most of them small.
const FILES: Pace = Pace { first: 512, batch: 128, ahead: 4 };
/// For work of some milliseconds.
const LONG: Pace = Pace { first: 0, batch: 1, ahead: 2 };

/// Gives `work` of each item to `each`, in order, until that breaks. The first few are worked on right here:
/// they are out soonest so, and often they are all.
pub fn in_order<T: Send, R: Send>(
    items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    each: impl FnMut(R) -> ControlFlow<()>,
) {
    at_pace(&FILES, processors(), items, work, each);
}

/// [`in_order`] for few items that take long each: none is worked on here.
pub fn few_in_order<T: Send, R: Send>(
    items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    each: impl FnMut(R) -> ControlFlow<()>,
) {
    at_pace(&LONG, processors(), items, work, each);
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn at_pace<T: Send, R: Send>(
    pace: &Pace,
    threads: usize,
    mut items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    mut each: impl FnMut(R) -> ControlFlow<()>,
) {
    // One processor has nothing to share.
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
                let (give, given) = sync_channel::<Vec<T>>(pace.ahead);
                let (tell, told) = channel::<Vec<R>>();
                let thread = thread::Builder::new().spawn_scoped(scope, move || {
                    // Ends when there is no more work, or the receiver is gone.
                    for batch in given {
                        if tell.send(batch.into_iter().map(work).collect()).is_err() {
                            return;
                        }
                    }
                });
                thread.is_ok().then_some((give, told))
            })
            .collect();
        if threads.is_empty() {
            // No thread is to be had: it is done here.
            let _ = batches.flatten().try_for_each(|item| each(work(item)));
            return;
        }
        // In turn, so that the next results always come from the thread whose turn it is.
        let (mut sent, mut taken) = (0, 0);
        loop {
            while sent - taken < pace.ahead * threads.len()
                && let Some(batch) = batches.next()
            {
                if threads[sent % threads.len()].0.send(batch).is_err() {
                    break;
                }
                sent += 1;
            }
            if taken == sent {
                return;
            }
            let Ok(results) = threads[taken % threads.len()].1.recv() else { return };
            taken += 1;
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
