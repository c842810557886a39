//! Ends a turn early: on SIGINT, SIGTERM, SIGHUP; and, for one reply among many, after its time.

use std::io;
use std::time::Duration;

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use lepo_base::error::{Error, Kind, Result};
use lepo_base::sys::heeded;

/// The signal of work that nobody reads.
const UNREAD: u8 = Signal::PIPE.as_raw() as u8;

/// True if work was ended because nobody reads it.
pub fn is_unread(error: &Error) -> bool {
    error.kind == Kind::Signal(UNREAD)
}

/// Reports the first signal that came. Clones report the same one.
#[derive(Clone)]
pub struct Interrupt {
    signal: watch::Receiver<Option<u8>>,
    sender: watch::Sender<Option<u8>>,
    /// The end of the time limit, and its length.
    deadline: Option<(Instant, Duration)>,
}

impl Interrupt {
    /// Begins to listen; from now on these signals do not end the process by themselves.
    pub fn listen() -> Result<Interrupt> {
        let (sender, receiver) = watch::channel(None);
        let failed = |error: io::Error| Error::store("cannot listen for signals").because(error);
        // A file size limit would end the process without a word; caught, the write fails and can be told.
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

    /// One that hears no signals: [`Interrupt::end`] alone ends the work.
    pub fn by_hand() -> Interrupt {
        let (sender, receiver) = watch::channel(None);
        Interrupt { signal: receiver, sender, deadline: None }
    }

    /// Ends the work as this signal would.
    pub fn end(&self, signal: u8) {
        self.sender.send_replace(Some(signal));
    }

    /// An interrupt that also ends the work when `limit` is over.
    pub fn within(&self, limit: Duration) -> Interrupt {
        Interrupt { deadline: Some((Instant::now() + limit, limit)), ..self.clone() }
    }

    /// Waits for a signal, or until time is up; the error is what the work ends with.
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
            // The sender lives in `self`.
            Err(_) => std::future::pending().await,
        };
        Error::interrupted(number)
    }

    /// Ends the work as a closed pipe would, which is no failure of it.
    pub fn unread(&self) {
        self.sender.send_replace(Some(UNREAD));
    }

    /// True if a signal came.
    pub fn has_come(&self) -> bool {
        self.signal.borrow().is_some()
    }

    /// Forgets a signal that came, for the next turn.
    pub fn reset(&self) {
        self.sender.send_replace(None);
    }

    /// Waits for `work`, or until it is cut short; then `work` is dropped.
    pub async fn or<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            interrupted = self.wait() => Err(interrupted),
            done = work => done,
        }
    }
}
