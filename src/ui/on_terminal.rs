//! Runs a question on the terminal device in a thread of its own, so that a signal can withdraw it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::term::{Tty, tty};
use lepo_base::error::{Error, Result};
use lepo_net::runtime::blocking;

/// Withdraws a question when it is dropped, unless it was answered by then. The terminal is free again when
/// that is done: its reader has left.
struct Withdraw {
    withdrawn: Arc<AtomicBool>,
    answered: bool,
    /// Closes when the reader has ended.
    left: Receiver<()>,
}

/// An editor that was opened for the command may take its time.
const LEFT_BY_THEN: Duration = Duration::from_secs(1);

impl Drop for Withdraw {
    fn drop(&mut self) {
        self.withdrawn.store(true, Ordering::Relaxed);
        if self.answered {
            return;
        }
        let _ = self.left.recv_timeout(LEFT_BY_THEN);
        if let Some(mut tty) = tty() {
            // The next output begins on a line of its own.
            let _ = tty.show("\n");
        }
    }
}

/// Runs `converse` on the terminal; `None` if there is none.
pub async fn on_terminal<T: Send + 'static>(
    converse: impl FnOnce(&mut Tty, &AtomicBool) -> io::Result<T> + Send + 'static,
) -> Result<Option<T>> {
    let withdrawn = Arc::new(AtomicBool::new(false));
    let (leaves, left) = channel();
    let mut guard = Withdraw { withdrawn: withdrawn.clone(), answered: false, left };
    let reply = blocking(move || {
        let _leaves: Sender<()> = leaves;
        tty().map(|mut tty| converse(&mut tty, &withdrawn)).transpose()
    })
    .await;
    guard.answered = true;
    reply
        .map_err(|error| Error::store("the question ended early").because(error))?
        .map_err(|error| Error::usage("cannot ask on the terminal").because(error))
}
