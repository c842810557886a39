//! Where a setting comes from: a line of a file, a variable, an option, or nothing but its default.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingSource {
    /// The default.
    Default,
    /// A line of a file, counted from 1.
    File {
        /// Path of the file.
        path: Arc<Path>,
        /// Number of the line.
        line: usize,
    },
    /// A variable of the environment.
    Env(&'static str),
    /// An option of the command line.
    Flag(&'static str),
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingSource::Default => f.write_str("default"),
            SettingSource::File { path, line } => write!(f, "{}:{line}", path.display()),
            SettingSource::Env(name) | SettingSource::Flag(name) => f.write_str(name),
        }
    }
}

/// A value, and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedValue<T> {
    pub value: T,
    pub source: SettingSource,
}
