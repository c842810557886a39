//! A status line on stderr, with its level.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Plain,
    /// Something that the user may not expect.
    Note,
    /// Something that the user should check.
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub level: Level,
    pub text: String,
}

impl Line {
    pub fn plain(text: impl Into<String>) -> Line {
        Line { level: Level::Plain, text: text.into() }
    }

    pub fn note(text: impl Into<String>) -> Line {
        Line { level: Level::Note, text: text.into() }
    }

    pub fn warning(text: impl Into<String>) -> Line {
        Line { level: Level::Warning, text: text.into() }
    }

    /// Prefixes the line with `name`, unless it starts with it already.
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
