//! The options of a pattern.

/// The options of a pattern.
#[derive(Debug, Clone, Copy, Default)]
pub struct PatternOptions {
    /// Ignore upper and lower case.
    pub ignore_case: bool,
    /// Match only whole words.
    pub whole_words: bool,
    /// The pattern is text, not a regular expression.
    pub fixed: bool,
    /// Report the lines that do not match.
    pub invert: bool,
    /// A match may span lines.
    pub multi_line: bool,
    /// Number of context lines before and after a match.
    pub context: usize,
    /// Only whether a text has a match is needed: stop at the first line.
    pub first: bool,
}

impl PatternOptions {
    /// Creates the options of a typed pattern: a capital in it makes it case-sensitive.
    pub fn smart_case(text: &str) -> PatternOptions {
        PatternOptions { ignore_case: !text.chars().any(char::is_uppercase), ..PatternOptions::default() }
    }
}
