//! The line of a turn that waits for an answer or for a server to start; after some seconds it counts them.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::term::{columns, cut, erase_line, one_line, show, stderr_is_terminal};
use lepo_tool::mcp::StartingNames;

pub const WAITING: &str = "Waiting for response...";

/// Columns for the seconds after the line.
const COUNT: usize = 8;

/// Returns the line that names the servers that are starting, to be erased as one line.
pub fn starting_line(names: &[String]) -> String {
    let servers = if names.len() == 1 { "server" } else { "servers" };
    let line = format!("Starting MCP {servers} {}...", names.join(", "));
    cut(&one_line(&line), columns().saturating_sub(COUNT))
}

/// Waits for `work`, in which servers may start, where nothing else is on the terminal. While one takes long, it is
/// named.
pub async fn show_starts<T>(starting: StartingNames, work: impl Future<Output = T>) -> T {
    let mut counter = None;
    let name_them = |names: &[String]| {
        drop(counter.take());
        counter = (stderr_is_terminal() && !names.is_empty()).then(|| StartingLine::show(names));
    };
    starting.watch(std::pin::pin!(work), name_them).await
}

/// The line on the screen; dropping it erases it.
struct StartingLine {
    counter: Option<WaitingCounter>,
}

impl StartingLine {
    fn show(names: &[String]) -> StartingLine {
        let line = starting_line(names);
        show(&line);
        StartingLine { counter: Some(WaitingCounter::start(line)) }
    }
}

impl Drop for StartingLine {
    fn drop(&mut self) {
        self.counter = None;
        show(erase_line());
    }
}

/// Seconds that are not counted: most answers start earlier.
const UNCOUNTED: u64 = 5;

/// Counts the seconds of one wait, on a thread because a waiting turn does nothing else. Stops on drop.
pub struct WaitingCounter {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl WaitingCounter {
    /// Starts to count, over this line on the screen.
    pub fn start(line: String) -> WaitingCounter {
        let stop: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let shared = stop.clone();
        // Without a thread, the line stays unchanged.
        let thread = Builder::new().spawn(move || count(&line, &shared)).ok();
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

fn count(line: &str, (stopped, changed): &(Mutex<bool>, Condvar)) {
    let mut is_stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
    for seconds in 1.. {
        let waited = changed.wait_timeout_while(is_stopped, Duration::from_secs(1), |stopped| !*stopped);
        is_stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
        if *is_stopped {
            return;
        }
        if seconds >= UNCOUNTED {
            show(&format!("\r{line} {seconds} s"));
        }
    }
}
