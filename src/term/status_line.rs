//! A status line on stderr, with its level.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineLevel {
    Plain,
    /// Something that the user may not expect.
    Note,
    /// Something that the user should check.
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusLine {
    pub level: LineLevel,
    pub text: String,
}

impl StatusLine {
    pub fn plain(text: impl Into<String>) -> StatusLine {
        StatusLine { level: LineLevel::Plain, text: text.into() }
    }

    pub fn note(text: impl Into<String>) -> StatusLine {
        StatusLine { level: LineLevel::Note, text: text.into() }
    }

    pub fn warning(text: impl Into<String>) -> StatusLine {
        StatusLine { level: LineLevel::Warning, text: text.into() }
    }

    /// Prefixes the line with `name`, unless it starts with it already.
    pub fn about(self, name: &str) -> StatusLine {
        let has_name = self.text.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
        if has_name {
            return self;
        }
        StatusLine { text: format!("{}: {}", name.trim_end_matches(':'), self.text), ..self }
    }
}

impl fmt::Display for StatusLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begin = match self.level {
            LineLevel::Plain => "",
            LineLevel::Note => "note: ",
            LineLevel::Warning => "warning: ",
        };
        write!(f, "{begin}{}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_once_and_behind_the_weight() {
        for (line, expected) in [
            (StatusLine::note("it was cut"), "note: m: it was cut"),
            (StatusLine::warning("m fails"), "warning: m fails"),
            (StatusLine::plain("many"), "m: many"),
        ] {
            assert_eq!(line.about("m").to_string(), expected);
        }
        assert_eq!(StatusLine::note("cut").about("embedded:").to_string(), "note: embedded: cut");
    }
}
