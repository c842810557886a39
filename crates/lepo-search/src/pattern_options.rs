//! The options of a pattern.

/// The options of a pattern.
#[derive(Debug, Clone, Copy, Default)]
pub struct PatternOptions {
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// Only whole words.
    pub words: bool,
    /// The pattern is text, not a regular expression.
    pub fixed: bool,
    /// Lines that do not match.
    pub invert: bool,
    /// A match may span lines.
    pub multi_line: bool,
    /// Lines of context before and after a match.
    pub context: usize,
    /// Only whether a text has a line to report is asked for: it is searched as far as its first.
    pub first: bool,
}
