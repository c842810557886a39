//! Where a setting comes from. Each value carries it, so that `lepo config` can say so and a
//! mistake can be told where it was made.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The place that said what is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nobody said anything.
    Default,
    /// A line of a file, from 1.
    File {
        /// The file.
        path: Arc<Path>,
        /// The line.
        line: usize,
    },
    /// A variable of the environment.
    Env(&'static str),
    /// An option of the command line.
    Flag(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File { path, line } => write!(f, "{}:{line}", path.display()),
            Source::Env(name) | Source::Flag(name) => f.write_str(name),
        }
    }
}

/// A value that somebody set, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set<T> {
    /// What was said.
    pub value: T,
    /// Where.
    pub source: Source,
}

impl<T> Set<T> {
    /// The same place, another form of the value.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Set<U> {
        Set { value: form(self.value), source: self.source }
    }
}
