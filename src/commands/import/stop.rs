//! Ctrl+C during an import: what was read is kept, and a line says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register_conditional_shutdown, register_usize};

use crate::bubb::counted;
use crate::error::{Error, Kind, Result};
use crate::sys::heeded;

/// The signal that is to end the import, if one came.
#[derive(Clone)]
pub struct Stop {
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Listens from now on. A second signal ends the process at once.
    pub fn listen() -> Result<Stop> {
        let signal = Arc::new(AtomicUsize::new(0));
        let came = Arc::new(AtomicBool::new(false));
        let failed = |error| Error::store("cannot listen for signals").because(error);
        for number in heeded([SIGINT, SIGTERM]) {
            register_conditional_shutdown(number, 128 + number, came.clone()).map_err(failed)?;
            signal_hook::flag::register(number, came.clone()).map_err(failed)?;
            register_usize(number, signal.clone(), number as usize).map_err(failed)?;
        }
        Ok(Stop { signal })
    }

    /// An error once a signal came.
    pub fn check(&self) -> Result<()> {
        match self.signal.load(Ordering::Relaxed) {
            0 => Ok(()),
            number => Err(Error::new(Kind::Signal(number as u8), "interrupted")),
        }
    }
}

/// The error of an import that a signal ended, with what is here by now.
pub fn with_count(error: Error, made: u64) -> Error {
    match error.kind {
        Kind::Signal(_) => {
            let messages = counted(made as usize, "message");
            Error::new(error.kind, format!("interrupted: {messages} of this import are here"))
                .hint("the same command goes on from there")
        }
        _ => error,
    }
}
