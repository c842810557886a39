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

    /// The same line as one about `name`, which stands first in it.
    pub fn about(self, name: &str) -> Line {
        let has_name = self.text.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
        if has_name {
            return self;
        }
        Line { text: format!("{}: {}", name.trim_end_matches(':'), self.text), ..self }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_once_and_behind_the_weight() {
        for (line, told) in [
            (Line::note("it was cut"), "note: m: it was cut"),
            (Line::warning("m fails"), "warning: m fails"),
            (Line::plain("many"), "m: many"),
        ] {
            assert_eq!(line.about("m").to_string(), told);
        }
        assert_eq!(Line::note("cut").about("embedded:").to_string(), "note: embedded: cut");
    }
}
