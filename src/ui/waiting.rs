//! The line of a turn that waits for an answer; after some seconds it counts them.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::term::show;

pub const WAITING: &str = "Waiting for response...";

/// Seconds that are not counted: most answers start earlier.
const UNCOUNTED: u64 = 5;

/// Counts the seconds of one wait, on a thread because a waiting turn does nothing else. Stops on drop.
pub struct WaitingCounter {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl WaitingCounter {
    /// Starts to count, over the line on the screen.
    pub fn start() -> WaitingCounter {
        let stop: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let shared = stop.clone();
        // Without a thread, the line stays unchanged.
        let thread = Builder::new().spawn(move || count(&shared)).ok();
        WaitingCounter { stop, thread }
    }
}

impl Drop for WaitingCounter {
    fn drop(&mut self) {
        let (stopped, changed) = &*self.stop;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn count((stopped, changed): &(Mutex<bool>, Condvar)) {
    let mut is_stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
    for seconds in 1.. {
        let waited = changed.wait_timeout_while(is_stopped, Duration::from_secs(1), |stopped| !*stopped);
        is_stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
        if *is_stopped {
            return;
        }
        if seconds >= UNCOUNTED {
            show(&format!("\r{WAITING} {seconds} s"));
        }
    }
}
