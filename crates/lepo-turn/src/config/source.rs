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

/// Finds the lines of a file.
pub struct LineNumbers {
    path: Arc<Path>,
    /// Byte offsets of the line breaks.
    breaks: Vec<usize>,
}

impl LineNumbers {
    pub fn new(path: &Path, bytes: &[u8]) -> LineNumbers {
        let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        LineNumbers { path: Arc::from(path), breaks: breaks.collect() }
    }

    /// Returns the source at a byte offset.
    pub fn source(&self, at: usize) -> SettingSource {
        let line = 1 + self.breaks.partition_point(|end| *end < at);
        SettingSource::File { path: Arc::clone(&self.path), line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one() {
        let lines = LineNumbers::new(Path::new("c"), b"a\n\nb\n");
        for (at, line) in [(0, 1), (1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (99, 4)] {
            assert_eq!(lines.source(at).to_string(), format!("c:{line}"), "{at}");
        }
    }
}
