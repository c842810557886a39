//! A line for the person, with its weight.

use std::fmt;

/// The weight of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It tells what happens.
    Plain,
    /// Something that the person may not expect.
    Note,
    /// Something that the person should look at.
    Warning,
}

/// A line for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its weight.
    pub level: Level,
    /// Its words.
    pub text: String,
}

impl Line {
    /// A line that tells what happens.
    pub fn plain(text: impl Into<String>) -> Line {
        Line { level: Level::Plain, text: text.into() }
    }

    /// A note.
    pub fn note(text: impl Into<String>) -> Line {
        Line { level: Level::Note, text: text.into() }
    }

    /// A warning.
    pub fn warning(text: impl Into<String>) -> Line {
        Line { level: Level::Warning, text: text.into() }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begin = match self.level {
            Level::Plain => "",
            Level::Note => "note: ",
            Level::Warning => "warning: ",
        };
        write!(f, "{begin}{}", self.text)
    }
}
