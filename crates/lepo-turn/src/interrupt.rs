//! Interrupts a turn: on SIGINT, SIGTERM, SIGHUP; and, for a reply in a group turn, after its time limit.

use std::io;
use std::time::Duration;

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::sys::heeded;

/// The signal for work whose output nobody reads.
const UNREAD: u8 = Signal::PIPE.as_raw() as u8;

/// Whether work was interrupted because nobody reads its output.
pub fn is_unread(error: &Error) -> bool {
    error.kind == ExitKind::Signal(UNREAD)
}

/// Reports the first signal. Clones share it.
#[derive(Clone)]
pub struct Interrupt {
    signal: watch::Receiver<Option<u8>>,
    sender: watch::Sender<Option<u8>>,
    /// The end of the time limit, and its length.
    deadline: Option<(Instant, Duration)>,
}

impl Interrupt {
    /// Starts listening: these signals no longer terminate the process.
    pub fn listen() -> Result<Interrupt> {
        let (sender, receiver) = watch::channel(None);
        let failed = |error: io::Error| Error::store("cannot listen for signals").because(error);
        // Exceeding the file size limit would kill the process silently. Once the signal is caught, the write
        // fails and can be reported.
        let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map_err(failed)?;
        for number in heeded([Signal::INT, Signal::TERM, Signal::HUP].map(Signal::as_raw)) {
            let mut signals = signal(SignalKind::from_raw(number)).map_err(failed)?;
            let sender = sender.clone();
            tokio::spawn(async move {
                while signals.recv().await.is_some() {
                    sender.send_replace(Some(number as u8));
                }
            });
        }
        Ok(Interrupt { signal: receiver, sender, deadline: None })
    }

    /// Creates an interrupt that ignores signals: only [`Interrupt::cancel`] ends the work.
    pub fn by_hand() -> Interrupt {
        let (sender, receiver) = watch::channel(None);
        Interrupt { signal: receiver, sender, deadline: None }
    }

    /// Ends the work like this signal.
    pub fn cancel(&self, signal: u8) {
        self.sender.send_replace(Some(signal));
    }

    /// Returns an interrupt that also ends the work after `limit`.
    pub fn within(&self, limit: Duration) -> Interrupt {
        Interrupt { deadline: Some((Instant::now() + limit, limit)), ..self.clone() }
    }

    /// Waits for a signal or the time limit; returns the error with which the work ends.
    pub async fn wait(&self) -> Error {
        let Some((end, limit)) = self.deadline else { return self.signalled().await };
        tokio::select! {
            biased;
            signal = self.signalled() => signal,
            () = sleep_until(end) => Error::remote(format!("no complete reply within {} s", limit.as_secs()))
                .hint("`timeout` in [many] of config.toml says how long a reply may take"),
        }
    }

    async fn signalled(&self) -> Error {
        let mut receiver = self.signal.clone();
        let number = match receiver.wait_for(Option::is_some).await {
            Ok(number) => number.unwrap_or_default(),
            // Never happens, since the sender is in `self`.
            Err(_) => std::future::pending().await,
        };
        Error::interrupted(number)
    }

    /// Ends the work like a closed pipe, which is not a failure.
    pub fn unread(&self) {
        self.sender.send_replace(Some(UNREAD));
    }

    /// Whether a signal was received.
    pub fn has_come(&self) -> bool {
        self.signal.borrow().is_some()
    }

    /// Clears a signal, for the next turn.
    pub fn reset(&self) {
        self.sender.send_replace(None);
    }

    /// Waits for `work`, and drops it on an interrupt.
    pub async fn or<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            interrupted = self.wait() => Err(interrupted),
            done = work => done,
        }
    }
}
