//! Finds formulas (`\(…\)`, `\[…\]`, `$…$`, `$$…$$`) before other Markdown, so that none of their text is taken
//! for an escape or an emphasis.

use super::line_form::{self, LineForm};

/// Limits a formula, and so the text that waits for its end, in bytes.
const LONGEST: usize = 64 << 10;

/// Marks before the text of a line, which are repeated at the start of its continuation lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineMarks {
    /// Number of quotes that the line is in.
    pub quotes: usize,
    /// Columns of the list mark; 0 without one.
    pub indent: usize,
}

/// Whether a formula starts at a position.
#[derive(Debug, PartialEq, Eq)]
pub enum FormulaMatch {
    /// Ends at this byte.
    Found(usize),
    /// Undecided until more text arrives.
    Undecided,
    /// The opening delimiter is text.
    Missing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    Dollar,
    Dollars,
    Paren,
    Bracket,
}

impl Delimiter {
    fn parse(text: &str) -> Option<Delimiter> {
        match run(text, '$') {
            1 => Some(Delimiter::Dollar),
            2 => Some(Delimiter::Dollars),
            0 if text.starts_with("\\(") => Some(Delimiter::Paren),
            0 if text.starts_with("\\[") => Some(Delimiter::Bracket),
            _ => None,
        }
    }

    fn open(self) -> &'static str {
        match self {
            Delimiter::Paren => "\\(",
            Delimiter::Bracket => "\\[",
            Delimiter::Dollar | Delimiter::Dollars => self.close(),
        }
    }

    fn close(self) -> &'static str {
        match self {
            Delimiter::Dollar => "$",
            Delimiter::Dollars => "$$",
            Delimiter::Paren => "\\)",
            Delimiter::Bracket => "\\]",
        }
    }

    fn is_display(self) -> bool {
        matches!(self, Delimiter::Dollars | Delimiter::Bracket)
    }
}

/// Finds the end of the formula at the start of `text`, which is the rest of its paragraph and possibly more.
/// Without `finished`, more text may follow.
pub fn find(text: &str, finished: bool, marks: LineMarks) -> FormulaMatch {
    let more = if finished { FormulaMatch::Missing } else { FormulaMatch::Undecided };
    if !finished && matches!(text, "$" | "$$" | "\\") {
        return more;
    }
    let Some(open) = Delimiter::parse(text) else { return FormulaMatch::Missing };
    let start = open.close().len();
    let inner = text.split_at(start).1;
    if open == Delimiter::Dollar && inner.starts_with(char::is_whitespace) {
        return FormulaMatch::Missing;
    }
    let mut at = start;
    let mut line_end = inner.find('\n').map(|end| start + end);
    loop {
        let rest = text.get(at..).unwrap_or_default();
        if at > LONGEST {
            return FormulaMatch::Missing;
        }
        // The bytes between are of no meaning here; every one sought is ASCII.
        let sought = |byte: u8| matches!(byte, b'\\' | b'$' | b'`' | b'\n');
        let Some(skipped) = rest.bytes().position(sought) else {
            return if text.len() > LONGEST { FormulaMatch::Missing } else { more };
        };
        at += skipped;
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with(open.close()) {
            return closed(open, text, start, at, finished);
        }
        match rest.as_bytes().first() {
            Some(b'\\') if rest.len() == 1 => return more,
            // LaTeX does not nest these; the first one belongs to a path or a regular expression.
            Some(b'\\') if rest.starts_with(open.open()) => return FormulaMatch::Missing,
            Some(b'\\') if rest.starts_with("\\\n") => at += 1,
            Some(b'\\') => at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            Some(b'`') => {
                let line = rest.get(..line_end.map_or(rest.len(), |end| end - at)).unwrap_or(rest);
                match code_end(line) {
                    Some(_) => return FormulaMatch::Missing,
                    None if line_end.is_none() && !finished => return more,
                    None => at += run(rest, '`'),
                }
            }
            Some(b'\n') => {
                at += 1;
                let next = text.get(at..).unwrap_or_default();
                line_end = next.find('\n').map(|end| at + end);
                let line = next.get(..line_end.map_or(next.len(), |end| end - at)).unwrap_or(next);
                match continues(line, line_end.is_some() || finished, open.is_display(), marks) {
                    Some(true) => {}
                    Some(false) => return FormulaMatch::Missing,
                    None => return more,
                }
            }
            _ => at += 1,
        }
    }
}

/// Whether the delimiter at `at` closes what opened before `start`.
fn closed(open: Delimiter, text: &str, start: usize, at: usize, finished: bool) -> FormulaMatch {
    let inner = text.get(start..at).unwrap_or_default();
    let end = at + open.close().len();
    if inner.trim().is_empty() {
        return FormulaMatch::Missing;
    }
    if open == Delimiter::Dollars {
        return FormulaMatch::Found(end);
    }
    if open != Delimiter::Dollar {
        // The next character decides whether a regular expression is meant.
        let is_last = text.len() == end && !finished;
        return if is_last { FormulaMatch::Undecided } else { FormulaMatch::Found(end) };
    }
    let Some(after) = text.get(end..).and_then(|after| after.chars().next()) else {
        if !finished {
            return FormulaMatch::Undecided;
        }
        return dollar(inner, end);
    };
    if after.is_alphanumeric() && after.is_ascii() || matches!(after, '_' | '{' | '(') {
        return FormulaMatch::Missing;
    }
    dollar(inner, end)
}

fn dollar(inner: &str, end: usize) -> FormulaMatch {
    let is_price = inner.starts_with(|c: char| c.is_ascii_digit()) && !has_sign(inner);
    match inner.ends_with(char::is_whitespace) || is_price {
        true => FormulaMatch::Missing,
        false => FormulaMatch::Found(end),
    }
}

/// Whether an amount of money would not have this text: `-`, `/` and `%` occur in ranges and rates.
fn has_sign(inner: &str) -> bool {
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        let is_sign = match c {
            '\\' => chars.peek().is_some_and(|next| *next != '$'),
            '^' | '_' | '=' | '<' | '>' | '+' | '*' | '×' | '÷' | '±' | '·' => true,
            _ => matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2200}'..='\u{22ff}'),
        };
        if is_sign {
            return true;
        }
    }
    false
}

/// Whether a formula may continue on this line; `None` if more text decides.
fn continues(line: &str, has_ended: bool, is_display: bool, marks: LineMarks) -> Option<bool> {
    let line = strip_quotes(line, marks.quotes);
    if line.trim().is_empty() {
        return has_ended.then_some(false);
    }
    if line.trim_start().starts_with('|') {
        return Some(true);
    }
    // A line of a formula may begin with a minus, a plus or a greater-than sign.
    Some(match line_form::form(line, has_ended)? {
        LineForm::Text | LineForm::Row => true,
        LineForm::Fence(_) => false,
        _ => is_display && marks.indent == 0,
    })
}

fn strip_quotes(line: &str, quotes: usize) -> &str {
    (0..quotes).fold(line, |line, _| match line.trim_start().strip_prefix('>') {
        Some(after) => after.strip_prefix(' ').unwrap_or(after),
        None => line,
    })
}

/// The source of a formula without the marks at the start of its later lines.
pub fn source(text: &str, marks: LineMarks) -> String {
    let mut lines = text.split('\n');
    let mut source = lines.next().unwrap_or_default().to_string();
    for line in lines {
        let line = strip_quotes(line, marks.quotes);
        let spaces = line.len() - line.trim_start_matches(' ').len();
        source.push('\n');
        source.push_str(line.split_at(spaces.min(marks.indent)).1);
    }
    source
}

/// Returns the end of the formula at the start of a table cell's text, where a bar that belongs to no formula is a border.
pub fn find_in_row(text: &str) -> Option<usize> {
    let FormulaMatch::Found(end) = find(text, true, LineMarks::default()) else { return None };
    let inner = text.split_at(end).0.trim_matches('$').replace("\\|", "");
    let is_border = inner.matches('|').count() % 2 == 1 && (inner.starts_with('|') || inner.ends_with('|'));
    (!is_border).then_some(end)
}

/// Length of the run of `mark` at the start of `text`.
pub fn run(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}

/// Returns the end of the code span at the start: a run of backquotes as long as the opening one.
pub fn code_end(text: &str) -> Option<usize> {
    let length = run(text, '`');
    let mut at = length;
    loop {
        let rest = text.get(at..)?;
        at += rest.find('`')?;
        let closing = run(text.get(at..)?, '`');
        at += closing;
        if closing == length {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FormulaMatch::{Found, Missing, Undecided};
    use super::*;

    #[test]
    fn formulas_end_at_their_delimiter_or_are_text() {
        for (text, so_far, finally) in [
            ("$x$ is", Found(3), Found(3)),
            ("$x$", Undecided, Found(3)),
            ("$x$y", Missing, Missing),
            ("$x$(y)", Missing, Missing),
            ("$x${y}", Missing, Missing),
            ("$x$_y", Missing, Missing),
            ("$x$는", Found(3), Found(3)),
            ("$ x$ ", Missing, Missing),
            ("$x $ ", Missing, Missing),
            ("$5 and $6 ", Missing, Missing),
            ("$5$ ", Missing, Missing),
            ("$5-10$ ", Missing, Missing),
            ("$5+x$ ", Found(5), Found(5)),
            ("$2\\pi$ ", Found(6), Found(6)),
            ("$2^n$ ", Found(5), Found(5)),
            ("$a\\$b$ ", Found(6), Found(6)),
            ("$a `b$` c$ ", Missing, Missing),
            ("$a ``b$ ", Undecided, Found(7)),
            ("$a\nb$ ", Found(5), Found(5)),
            ("$a\n\nb$ ", Missing, Missing),
            ("$a\n- b$ ", Missing, Missing),
            ("$$a\n- b$$", Found(9), Found(9)),
            ("$$a\n```\nb$$", Missing, Missing),
            ("$$a$b$$", Found(7), Found(7)),
            ("$$ $$", Missing, Missing),
            ("$$$a$$$", Missing, Missing),
            ("$$a", Undecided, Missing),
            ("\\(a*b*c\\)", Undecided, Found(9)),
            ("\\(a*b*c\\) ", Found(9), Found(9)),
            ("\\(a\\\\)b\\)\n", Found(9), Found(9)),
            ("\\[x\n\\]", Undecided, Found(6)),
            ("\\[x", Undecided, Missing),
            ("\\(x86)\\a \\(k\\) ", Missing, Missing),
            ("\\", Undecided, Missing),
            ("$", Undecided, Missing),
        ] {
            let marks = LineMarks::default();
            assert_eq!((find(text, false, marks), find(text, true, marks)), (so_far, finally), "{text:?}");
        }
        let long = format!("\\[{}", "x".repeat(LONGEST));
        assert_eq!(find(&long, false, LineMarks::default()), Missing);
    }

    #[test]
    fn marks_of_later_lines_are_no_part_of_a_formula() {
        let quote = LineMarks { quotes: 1, indent: 0 };
        assert_eq!(find("$a\n> b$ ", true, quote), Found(7));
        assert_eq!(find("$a\n>\n> b$ ", true, quote), Missing);
        assert_eq!(source("$a\n> b$", quote), "$a\nb$");
        let item = LineMarks { quotes: 0, indent: 2 };
        assert_eq!(find("$$\n  a\n  $$ ", true, item), Found(11));
        assert_eq!(find("$$a\n- b$$ ", true, item), Missing);
        assert_eq!(source("$$\n    a\n  $$", item), "$$\n  a\n$$");
    }

    #[test]
    fn a_bar_within_a_formula_is_no_border() {
        for (row, end) in
            [("$P(A|B)$ | x", Some(8)), ("$|x|$ | x", Some(5)), ("$5 | $10 |", None), ("$|a 10$ |", None)]
        {
            assert_eq!(find_in_row(row), end, "{row}");
        }
    }
}
