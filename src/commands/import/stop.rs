//! Handles Ctrl+C during an import: conversations read so far are stored, and a line says so.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register_conditional_shutdown, register_usize};

use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::sys::heeded;
use lepo_store::bubb::plural;

#[derive(Clone)]
pub struct StopSignal {
    signal: Arc<AtomicUsize>,
}

impl StopSignal {
    /// Starts listening. A second signal ends the process at once.
    pub fn listen() -> Result<StopSignal> {
        let signal = Arc::new(AtomicUsize::new(0));
        let came = Arc::new(AtomicBool::new(false));
        let failed = |error| Error::store("cannot listen for signals").because(error);
        for number in heeded([SIGINT, SIGTERM]) {
            register_conditional_shutdown(number, 128 + number, came.clone()).map_err(failed)?;
            signal_hook::flag::register(number, came.clone()).map_err(failed)?;
            register_usize(number, signal.clone(), number as usize).map_err(failed)?;
        }
        Ok(StopSignal { signal })
    }

    /// Calls a function in a thread of its own when a signal has come, so that a wait can end.
    pub fn call_on_signal(&self, call: impl FnOnce() + Send + 'static) -> Result<()> {
        let failed = |error| Error::store("cannot listen for signals").because(error);
        let (mut receiver, sender) = UnixStream::pair().map_err(failed)?;
        for number in heeded([SIGINT, SIGTERM]) {
            let sender = sender.try_clone().map_err(failed)?;
            signal_hook::low_level::pipe::register(number, sender).map_err(failed)?;
        }
        // The thread ends with the process.
        drop(thread::spawn(move || {
            if receiver.read_exact(&mut [0]).is_ok() {
                call();
            }
        }));
        Ok(())
    }

    pub fn check(&self) -> Result<()> {
        match self.signal.load(Ordering::Relaxed) {
            0 => Ok(()),
            number => Err(Error::new(ExitKind::Signal(number as u8), "interrupted")),
        }
    }
}

/// Formats the error of an interrupted import with the number of stored bubbs; `None` for a dry run.
pub fn with_count(error: Error, made: Option<u64>) -> Error {
    match (error.kind, made) {
        (ExitKind::Signal(_), Some(made)) => {
            let (messages, are) = (plural(made, "message"), if made == 1 { "is" } else { "are" });
            Error::new(error.kind, format!("interrupted: {messages} of this import {are} here"))
                .hint("run the same command to continue")
        }
        (ExitKind::Signal(_), None) => Error::new(error.kind, "interrupted: nothing was written"),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_here_is_told_only_of_an_import_that_writes() {
        for (kind, made, expected, has_hint) in [
            (ExitKind::Signal(2), Some(1), "interrupted: 1 message of this import is here", true),
            (ExitKind::Signal(15), Some(7), "interrupted: 7 messages of this import are here", true),
            (ExitKind::Signal(2), None, "interrupted: nothing was written", false),
            (ExitKind::Store, Some(7), "x", false),
            (ExitKind::Store, None, "x", false),
        ] {
            let error = with_count(Error::new(kind, "x"), made);
            assert_eq!((error.kind, &*error.message, error.hint.is_some()), (kind, expected, has_hint));
        }
    }
}
