//! The async runtime, on the current thread.

use std::io;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::error::{Error, Result};

/// Longer than any process lives.
const FOR_GOOD: Duration = Duration::from_secs(1 << 30);

/// Starts a runtime on the current thread; an error, if descriptors or threads are lacking.
pub fn current_thread() -> Result<Runtime> {
    start().map_err(|error| Error::store("cannot start the runtime").because(error))
}

fn start() -> io::Result<Runtime> {
    // tokio panics if it cannot open its five descriptors.
    let pairs = [UnixStream::pair(), UnixStream::pair(), UnixStream::pair()];
    drop(pairs.into_iter().collect::<io::Result<Vec<_>>>()?);
    // tokio panics if it cannot start a thread, unless it has one: the first one is kept.
    thread::Builder::new().spawn(|| ())?.join().ok();
    let runtime = Builder::new_current_thread().enable_all().thread_keep_alive(FOR_GOOD).build()?;
    runtime.spawn_blocking(|| ());
    Ok(runtime)
}
