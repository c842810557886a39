//! The async runtime, on the current thread, and threads for blocking work.

use std::future::Future;
use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread;

use tokio::runtime::Builder;
pub use tokio::runtime::Runtime;
use tokio::sync::oneshot::{Receiver, channel};

use lepo_base::error::{Error, Result};

/// The descriptors that tokio opens for a runtime, and a spare one.
const DESCRIPTORS: usize = 6;

/// Starts a runtime on the current thread; an error if no descriptors are available.
pub fn current_thread() -> Result<Runtime> {
    start().map_err(|error| Error::store("cannot start the runtime").because(error))
}

fn start() -> io::Result<Runtime> {
    // tokio panics if it cannot open its descriptors.
    let stdin = io::stdin();
    let tried = (0..DESCRIPTORS).map(|_| stdin.as_fd().try_clone_to_owned());
    drop(tried.collect::<io::Result<Vec<_>>>()?);
    Builder::new_current_thread().enable_all().build()
}

/// Runs blocking work in a separate thread, or on the current thread if none can be spawned, where tokio's
/// `spawn_blocking` panics.
pub fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> BlockingTask<T> {
    let (sender, receiver) = channel();
    // The receiver no longer exists if its owner has stopped waiting.
    let work = Arc::new(Mutex::new(Some(move || drop(sender.send(work())))));
    let theirs = work.clone();
    if thread::Builder::new().spawn(move || run(&theirs)).is_err() {
        run(&work);
    }
    BlockingTask(receiver)
}

/// Runs the work unless it already ran.
fn run(work: &Mutex<Option<impl FnOnce()>>) {
    let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(work) = work {
        work();
    }
}

/// The result of [`blocking`], to be awaited; an error if the work panicked. Dropping it does not stop the work.
pub struct BlockingTask<T>(Receiver<T>);

impl<T> Future for BlockingTask<T> {
    type Output = io::Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map_err(|_| io::Error::other("its thread ended early"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_has_a_result_an_error_if_it_panicked_and_goes_on_alone() {
        let runtime = current_thread().unwrap();
        assert_eq!(runtime.block_on(blocking(|| 7)).unwrap(), 7);
        let ended = runtime.block_on(blocking(|| -> u8 { panic!("as it should") }));
        assert_eq!(ended.unwrap_err().to_string(), "its thread ended early");
        let (done, waits) = std::sync::mpsc::channel();
        drop(blocking(move || done.send(8)));
        assert_eq!(waits.recv().unwrap(), 8);
    }
}
