//! Replaces each formula of a Markdown text by a private character before the text is parsed, with the rules by which a
//! terminal finds them, so that none of their text is taken for Markdown.

use lepo_base::formula::{FormulaMatch, LineMarks, code_end, find, find_in_row, run, source};
use lepo_base::formula_sense::{DelimitedFormula, FormulaContext};
use lepo_base::line_form::{FenceMark, LineForm, form};

/// The private characters of plane 15, one a formula.
const FIRST: u32 = 0xf_0000;
const LAST: u32 = 0xf_fffd;

#[derive(Debug, PartialEq, Eq)]
pub struct TextFormula {
    /// The text that the character replaces.
    raw: String,
    /// With delimiters, without the marks of quotes and lists at the start of its lines.
    pub source: String,
    /// Whether it is set as a formula; else its source is shown.
    pub is_meant: bool,
}

/// A Markdown text without its formulas.
#[derive(Debug, Default)]
pub struct TextFormulas {
    pub text: String,
    formulas: Vec<TextFormula>,
    /// Closing delimiters that the rest of the text lacks: not searched for at each opening one.
    absent: Vec<&'static str>,
}

impl TextFormulas {
    /// Reads a text; one that has private characters of its own has no formulas.
    pub fn parse(text: &str) -> TextFormulas {
        let mut found = TextFormulas { text: String::with_capacity(text.len()), ..TextFormulas::default() };
        let has_none = !text.contains(['$', '\\']) || text.contains(|c| index(c).is_some());
        if has_none {
            found.text.push_str(text);
            return found;
        }
        let (mut at, mut fence) = (0, None);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            at += found.read_line(rest, &mut fence);
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.formulas.is_empty()
    }

    /// Returns the formula of a private character.
    pub fn get(&self, c: char) -> Option<&TextFormula> {
        self.formulas.get(index(c)?)
    }

    /// Returns a part of the text as it was, for code and addresses.
    pub fn restore(&self, text: &str) -> String {
        if self.formulas.is_empty() {
            return text.to_string();
        }
        let mut restored = String::with_capacity(text.len());
        for c in text.chars() {
            match self.get(c) {
                Some(formula) => restored.push_str(&formula.raw),
                None => restored.push(c),
            }
        }
        restored
    }

    /// Reads a line, and more if a formula ends on a later one; returns the number of bytes.
    fn read_line(&mut self, text: &str, fence: &mut Option<FenceMark>) -> usize {
        let end = text.find('\n').map_or(text.len(), |end| end + 1);
        let line = text.split_at(end).0;
        if let Some(open) = fence {
            if open.is_closed_by(line) {
                *fence = None;
            }
            self.text.push_str(line);
            return end;
        }
        let (mut marks, mut at, mut is_row, mut is_line) = (LineMarks::default(), 0, false, false);
        loop {
            let rest = line.get(at..).unwrap_or_default().trim_end_matches('\n');
            match form(rest, true) {
                Some(LineForm::Quote { taken }) => {
                    marks.quotes += 1;
                    at += taken;
                    continue;
                }
                Some(LineForm::Item { mark, text, taken }) => {
                    marks.indent += mark.len() + text.chars().count() + 1;
                    at += taken;
                }
                Some(LineForm::Heading { taken, .. }) => {
                    is_line = true;
                    at += taken;
                }
                Some(LineForm::Fence(mark)) if marks.quotes == 0 => {
                    *fence = Some(mark);
                    self.text.push_str(line);
                    return end;
                }
                Some(LineForm::Row) => is_row = true,
                _ => {}
            }
            break;
        }
        self.text.push_str(line.get(..at).unwrap_or_default());
        let from = at;
        let mut indent = Some(0);
        // A formula may end on a later line, whose rest is read here too.
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let rest = text.get(at..).unwrap_or_default();
            if c == '\n' {
                self.text.push('\n');
                return at + 1;
            }
            let line_end = rest.find('\n').unwrap_or(rest.len());
            let in_line = rest.get(..line_end).unwrap_or_default();
            let length = match c {
                '$' | '\\' => {
                    let formula = match (is_row, is_line) {
                        _ if self.is_unclosed(rest) => None,
                        (true, _) => find_in_row(in_line),
                        (false, true) => found_end(find(in_line, true, marks)),
                        (false, false) => found_end(find(rest, true, marks)),
                    };
                    if let Some(length) = formula.filter(|_| self.formulas.len() < (LAST - FIRST) as usize) {
                        let before = text.get(from..at).and_then(|before| before.chars().next_back());
                        let after = rest.get(length..).and_then(|after| after.chars().next());
                        let context = FormulaContext { before, indent, after };
                        self.add(rest.get(..length).unwrap_or_default(), marks, (is_row, context));
                        at += length;
                        indent = None;
                        continue;
                    }
                    match c {
                        '$' => run(rest, '$'),
                        _ => 1 + rest.chars().nth(1).filter(|c| *c != '\n').map_or(0, char::len_utf8),
                    }
                }
                '`' => code_end(in_line).unwrap_or_else(|| run(rest, '`')),
                c => c.len_utf8(),
            };
            let part = rest.get(..length).unwrap_or_default();
            indent = indent.filter(|_| part.trim().is_empty()).map(|indent| indent + part.len());
            self.text.push_str(part);
            at += length;
        }
        at.max(end)
    }

    fn is_unclosed(&mut self, rest: &str) -> bool {
        let delimiters = [("\\(", "\\)"), ("\\[", "\\]")];
        let Some((_, close)) = delimiters.into_iter().find(|(open, _)| rest.starts_with(open)) else {
            return false;
        };
        let is_absent = self.absent.contains(&close) || !rest.contains(close);
        if is_absent && !self.absent.contains(&close) {
            self.absent.push(close);
        }
        is_absent
    }

    fn add(&mut self, raw: &str, marks: LineMarks, (is_row, context): (bool, FormulaContext)) {
        let source = source(raw, marks);
        let source = if is_row { source.replace("\\|", "|") } else { source };
        let is_meant = DelimitedFormula::parse(&source).is_some_and(|formula| formula.is_meant(context));
        let c = u32::try_from(self.formulas.len()).ok().and_then(|index| char::from_u32(FIRST + index));
        self.text.extend(c);
        self.formulas.push(TextFormula { raw: raw.to_string(), source, is_meant });
    }
}

fn found_end(found: FormulaMatch) -> Option<usize> {
    match found {
        FormulaMatch::Found(end) => Some(end),
        FormulaMatch::Undecided | FormulaMatch::Missing => None,
    }
}

/// Returns the index of the formula that a private-use character represents.
fn index(c: char) -> Option<usize> {
    let code = u32::from(c);
    (FIRST..=LAST).contains(&code).then(|| (code - FIRST) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_taken_out_and_code_is_left() {
        for (text, parts) in [
            ("a $x_1$ b", &["$x_1$"][..]),
            ("`$x$` and $y$.", &["$y$"]),
            ("```\n$x$\n```\n$y$", &["$y$"]),
            ("from $5 to $10", &[]),
            ("> $$\n> a\n> $$\n> b $c$", &["$$\na\n$$", "$c$"]),
            ("- $a\n  b$\n- c", &["$a\nb$"]),
            ("# A $b\nc$", &[]),
            ("|$P(A|B)$|b|\n|-|-|\n|$x\\|$|y|", &["$P(A|B)$", "$x|$"]),
            ("\\$5 $x$", &["$x$"]),
            ("\\(a\\) $b$ \\[c\\]", &["\\(a\\)", "$b$", "\\[c\\]"]),
            ("\u{f0000} $x$", &[]),
        ] {
            let found = TextFormulas::parse(text);
            let sources: Vec<&str> = found.formulas.iter().map(|formula| formula.source.as_str()).collect();
            assert_eq!(sources, parts, "{text}");
            if !text.contains('\u{f0000}') {
                assert_eq!(found.restore(&found.text), text);
            }
        }
    }

    #[test]
    fn a_long_text_is_read_in_time_that_grows_with_its_length() {
        for part in ["$a ", "\\(", "`", "$$\n", "|$", "> $", "$x$ "] {
            let text = part.repeat(20_000);
            let found = TextFormulas::parse(&text);
            assert_eq!(found.restore(&found.text), text, "{part}");
        }
    }
}
