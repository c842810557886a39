//! Finds the ends of spans within a line.

use lepo_base::formula::{self, FormulaMatch, LineMarks, code_end, run};
use lepo_turn::config::MathNotation;

/// Limits a link's text and its URL, in bytes each.
const LONGEST_LINK: usize = 2000;

/// The text to parse: a line or its beginning.
#[derive(Clone, Copy)]
pub struct InlineText<'t> {
    pub line: &'t str,
    /// Whether `line` is complete.
    pub has_ended: bool,
    /// `line` and all text that has arrived after it, where a formula may end.
    pub all: &'t str,
    /// Whether no more text can follow `all`.
    pub finished: bool,
    pub marks: LineMarks,
    pub notation: MathNotation,
}

impl<'t> InlineText<'t> {
    /// A text in which every formula ends.
    pub fn whole(line: &'t str, notation: MathNotation) -> InlineText<'t> {
        let marks = LineMarks::default();
        InlineText { line, has_ended: true, all: line, finished: true, marks, notation }
    }
}

/// Returns the end of the run that closes the emphasis at the start, which a run of `length` opened. Sets
/// `is_open` if a possible formula before it is undecided.
pub fn closing(input: InlineText<'_>, mark: char, length: usize, is_open: &mut bool) -> Option<usize> {
    let text = input.line;
    let mut at = length;
    let mut before = None;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let mut taken = c.len_utf8();
        let possible = if c == '$' || c == '\\' {
            let all = input.all.get(at..).unwrap_or_default();
            formula::find(all, input.finished, input.marks)
        } else {
            FormulaMatch::Missing
        };
        if let FormulaMatch::Found(end) = possible {
            taken = end;
        } else if possible == FormulaMatch::Undecided {
            *is_open = true;
            return None;
        } else if c == '$' {
            taken = run(rest, '$');
        } else if c == '\\' {
            taken += rest.chars().nth(1).map_or(0, char::len_utf8);
        } else if c == '`' {
            taken = code_end(rest).unwrap_or_else(|| run(rest, '`'));
        } else if c == mark {
            taken = run(rest, mark);
            let after = rest.split_at(taken).1.chars().next();
            let flanks = before.is_some_and(|before: char| !before.is_whitespace())
                && (mark != '_' || !after.is_some_and(char::is_alphanumeric));
            // A run of three also closes an inner emphasis of one or two.
            if flanks && (taken == length || (taken == 3 && length < 3)) {
                return Some(at + taken);
            }
        }
        at += taken;
        before = Some(c);
    }
    None
}

/// Returns the end of the bracketed text at the start, within `LONGEST_LINK`.
pub fn balanced(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    let mut escaped = false;
    for (at, c) in text.char_indices().take_while(|(at, _)| *at < LONGEST_LINK) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == open => depth += 1,
            _ if c == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + c.len_utf8());
                }
            }
            _ => {}
        }
    }
    None
}
