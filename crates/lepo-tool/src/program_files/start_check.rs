//! Compares the files of configured programs with those that the user agreed to: right before a program starts
//! outside of every sandbox, and before each call of a running one.

use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::NamedProgram;

type Compare = dyn Fn(&NamedProgram) -> Result<Option<OwnedFd>, String> + Send + Sync;

/// Compares the files from which a program starts with the version to which the user agreed.
#[derive(Clone, Default)]
pub struct StartCheck {
    compare: Option<Arc<Compare>>,
    running: Option<Arc<dyn RunningCheck>>,
}

/// Compares the files that a running program may still load with those that the user agreed to.
pub trait RunningCheck: Send + Sync {
    /// Returns a number that changes whenever commands may have changed files.
    fn stamp(&self) -> u64;

    /// Returns the reason not to call the program any more as the error.
    fn compare(&self, program: &NamedProgram) -> Result<(), String>;
}

impl StartCheck {
    /// Creates a check from a function that returns the reason against a start. The returned descriptor is a lock: until
    /// the program has started, no command can change its files.
    pub fn new(
        compare: impl Fn(&NamedProgram) -> Result<Option<OwnedFd>, String> + Send + Sync + 'static,
        running: impl RunningCheck + 'static,
    ) -> StartCheck {
        StartCheck { compare: Some(Arc::new(compare)), running: Some(Arc::new(running)) }
    }

    /// Compares the files; without a function, every file passes.
    pub fn compare(&self, program: &NamedProgram) -> Result<Option<OwnedFd>, String> {
        self.compare.as_ref().map_or(Ok(None), |compare| compare(program))
    }

    /// Returns a number that changes whenever commands may have changed files.
    pub fn stamp(&self) -> u64 {
        self.running.as_ref().map_or(0, |running| running.stamp())
    }

    /// Compares the files that a running program may still load.
    pub fn compare_running(&self, program: &NamedProgram) -> Result<(), String> {
        self.running.as_ref().map_or(Ok(()), |running| running.compare(program))
    }
}

impl fmt::Debug for StartCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StartCheck").finish_non_exhaustive()
    }
}
