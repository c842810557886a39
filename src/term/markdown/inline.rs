//! Parses the spans within a line (emphasis, code, links), as far as the text decides them.
//!
//! Output is never redrawn, so an opening mark waits for its closing one, at most to the end of the line.

use super::super::links::web_uri;
use super::escape::{self, TextBefore};
use super::math::to_unicode;
use super::span_end::{InlineText, balanced, closing};
use super::style::{Span, Style, address_in_brackets};
use lepo_base::formula::{self, FormulaMatch, code_end, run};
use lepo_base::formula_sense::FormulaContext;
use lepo_turn::config::MathNotation;

/// Maximum bytes after an opening mark in which its closing mark is awaited; after that the opening mark is text.
const MAX_WAIT: usize = 1000;

/// Parses a complete text.
pub fn read_whole(text: &str, notation: MathNotation, style: Style, spans: &mut Vec<Span>) {
    read(InlineText::whole(text, notation), &mut TextBefore::default(), style, spans);
}

/// Parses spans from the start of `input`, which follows `before`; returns the number of bytes consumed: all of
/// the line if it has ended, except from a possible formula on, and more than the line if a formula ends later.
pub fn read(input: InlineText<'_>, before: &mut TextBefore, style: Style, spans: &mut Vec<Span>) -> usize {
    let (plain, unclosed) = (String::new(), Vec::new());
    let (text, has_ended) = (input.line, input.has_ended);
    let mut reader =
        InlineParser { input, text, at: 0, before: *before, has_ended, style, spans, plain, unclosed };
    while let Some(next) = reader.next() {
        match next {
            MarkOutcome::Consumed => {}
            MarkOutcome::InFormula => break,
            MarkOutcome::Wait if reader.can_wait() => break,
            MarkOutcome::Wait | MarkOutcome::Literal => reader.push_literal(),
        }
    }
    reader.flush();
    *before = reader.before;
    reader.at
}

pub fn has_marks(text: &str) -> bool {
    text.bytes().any(is_mark)
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'\\' | b'`' | b'*' | b'_' | b'~' | b'[' | b'!' | b'$')
}

struct InlineParser<'r> {
    input: InlineText<'r>,
    text: &'r str,
    at: usize,
    before: TextBefore,
    has_ended: bool,
    style: Style,
    spans: &'r mut Vec<Span>,
    /// Plain text that is not a span yet.
    plain: String,
    /// Marks with their run length that have no closing run after `at`: not searched for twice.
    unclosed: Vec<(char, usize)>,
}

/// The result of handling a mark.
enum MarkOutcome {
    /// Parsed, with the text that belongs to it.
    Consumed,
    /// Undecided until more text of the line arrives.
    Wait,
    /// Undecided until a possible formula is closed or its paragraph ends.
    InFormula,
    /// Not a mark but text.
    Literal,
}

impl<'r> InlineParser<'r> {
    fn rest(&self) -> &'r str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Whether more text may arrive, and is worth waiting for.
    fn can_wait(&self) -> bool {
        !self.has_ended && self.rest().len() < MAX_WAIT
    }

    /// Consumes text up to the next mark, and handles that.
    fn next(&mut self) -> Option<MarkOutcome> {
        let rest = self.rest();
        let up_to = rest.bytes().position(is_mark).unwrap_or(rest.len());
        let (plain, rest) = rest.split_at(up_to);
        self.plain.push_str(plain);
        self.advance_past(plain);
        Some(match rest.chars().next()? {
            '$' => match self.formula() {
                MarkOutcome::Literal => self.dollars(rest),
                outcome => outcome,
            },
            '\\' => match self.formula() {
                MarkOutcome::Literal => self.escape(rest),
                outcome => outcome,
            },
            '`' => self.code(rest),
            mark @ ('*' | '_' | '~') => self.emphasis(rest, mark),
            '[' => self.link(rest, rest),
            _ => match rest.strip_prefix('!') {
                Some("") => MarkOutcome::Wait,
                Some(link) if link.starts_with('[') => self.link(rest, link),
                _ => MarkOutcome::Literal,
            },
        })
    }

    fn advance_past(&mut self, text: &str) {
        self.at += text.len();
        self.before.push(text);
    }

    /// Consumes a run of marks as text.
    fn push_literal(&mut self) {
        let rest = self.rest();
        let Some(mark) = rest.chars().next() else { return };
        let run = if matches!(mark, '*' | '_' | '~' | '`') { run(rest, mark) } else { mark.len_utf8() };
        let run = rest.split_at(run).0;
        self.plain.push_str(run);
        self.advance_past(run);
    }

    fn flush(&mut self) {
        if !self.plain.is_empty() {
            self.spans.push(Span::new(std::mem::take(&mut self.plain), self.style));
        }
    }

    /// Returns the end that `find` finds, unless a search for this mark and run length already failed.
    fn end_of(&mut self, mark: char, length: usize, find: impl FnOnce() -> Option<usize>) -> Option<usize> {
        if self.unclosed.contains(&(mark, length)) {
            return None;
        }
        let end = find();
        if end.is_none() {
            self.unclosed.push((mark, length));
        }
        end
    }

    /// Appends the formula at the current position, in Unicode or unchanged.
    fn formula(&mut self) -> MarkOutcome {
        let all = self.input.all.get(self.at..).unwrap_or_default();
        match formula::find(all, self.input.finished, self.input.marks) {
            FormulaMatch::Found(end) => {
                let whole = all.split_at(end).0;
                let source = formula::source(whole, self.input.marks);
                let context = FormulaContext {
                    before: self.before.last,
                    indent: self.before.indent,
                    after: all.get(end..).and_then(|after| after.chars().next()),
                };
                let is_unicode = self.input.notation == MathNotation::Unicode;
                let unicode = is_unicode.then(|| to_unicode(&source, context)).flatten();
                self.plain.push_str(unicode.as_deref().unwrap_or(&source));
                self.advance_past(whole);
                MarkOutcome::Consumed
            }
            FormulaMatch::Undecided => MarkOutcome::InFormula,
            FormulaMatch::Missing => MarkOutcome::Literal,
        }
    }

    fn dollars(&mut self, rest: &str) -> MarkOutcome {
        let dollars = rest.split_at(run(rest, '$')).0;
        self.plain.push_str(dollars);
        self.advance_past(dollars);
        MarkOutcome::Consumed
    }

    fn escape(&mut self, rest: &str) -> MarkOutcome {
        match escape::read(rest, self.before, self.has_ended, self.style.underlined) {
            None => MarkOutcome::Wait,
            Some(true) => {
                let (taken, _) = rest.split_at(2);
                self.plain.push_str(taken.split_at(1).1);
                self.advance_past(taken);
                MarkOutcome::Consumed
            }
            // The second of two backslashes must not escape what follows.
            Some(false) if rest.starts_with("\\\\") => {
                self.plain.push_str("\\\\");
                self.advance_past("\\\\");
                MarkOutcome::Consumed
            }
            Some(false) => MarkOutcome::Literal,
        }
    }

    fn code(&mut self, rest: &str) -> MarkOutcome {
        let Some(end) = self.end_of('`', run(rest, '`'), || code_end(rest)) else {
            return MarkOutcome::Wait;
        };
        // At the end of the text the run may still become longer.
        if end == rest.len() && self.can_wait() {
            return MarkOutcome::Wait;
        }
        let (whole, _) = rest.split_at(end);
        let inner = whole.trim_matches('`');
        let spaced = inner.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' '));
        let inner = spaced.filter(|inner| !inner.trim().is_empty()).unwrap_or(inner);
        self.flush();
        self.spans.push(Span::new(inner, Style { code: true, ..self.style }));
        self.advance_past(whole);
        MarkOutcome::Consumed
    }

    fn emphasis(&mut self, rest: &str, mark: char) -> MarkOutcome {
        let length = run(rest, mark);
        let Some(after) = rest.split_at(length).1.chars().next() else { return MarkOutcome::Wait };
        let within_word = mark == '_' && self.before.last.is_some_and(char::is_alphanumeric);
        let marks = if mark == '~' { length == 2 } else { length <= 3 };
        if !marks || after.is_whitespace() || within_word {
            return MarkOutcome::Literal;
        }
        let all = self.input.all.get(self.at..).unwrap_or_default();
        let input = InlineText { line: rest, all, ..self.input };
        let mut is_open = false;
        let end = self.end_of(mark, length, || closing(input, mark, length, &mut is_open));
        if is_open {
            self.unclosed.clear();
            return MarkOutcome::InFormula;
        }
        let Some(end) = end else { return MarkOutcome::Wait };
        // As with code: the run may become longer.
        if end == rest.len() && self.can_wait() {
            return MarkOutcome::Wait;
        }
        let (whole, _) = rest.split_at(end);
        let Some(inner) = whole.get(length..end - length) else { return MarkOutcome::Literal };
        let mut style = self.style;
        match (mark, length) {
            ('~', _) => style.struck = true,
            (_, 1) => style.italic = true,
            (_, 2) => style.bold = true,
            _ => (style.bold, style.italic) = (true, true),
        }
        self.flush();
        read_whole(inner, self.input.notation, style, self.spans);
        self.advance_past(whole);
        MarkOutcome::Consumed
    }

    /// Parses `[text](url)`; for an image `rest` starts with `!`.
    fn link(&mut self, rest: &str, link: &str) -> MarkOutcome {
        let Some(close) = balanced(link, '[', ']') else { return MarkOutcome::Wait };
        let (label, after) = link.split_at(close);
        if after.is_empty() {
            return MarkOutcome::Wait;
        }
        if !after.starts_with('(') {
            return MarkOutcome::Literal;
        }
        let Some(end) = balanced(after, '(', ')') else { return MarkOutcome::Wait };
        let inner = |text: &'_ str| text.get(1..text.len() - 1).unwrap_or_default().trim().to_string();
        let label = inner(label);
        // A title may follow the URL.
        let address = inner(after.split_at(end).0);
        let address = address.split_whitespace().next().unwrap_or_default().trim_matches(['<', '>']);
        self.flush();
        let first = self.spans.len();
        read_whole(&label, self.input.notation, Style { underlined: true, ..self.style }, self.spans);
        // The URL stays visible, and only it is a link: the user must see where a link leads.
        if address == label {
            let uri = web_uri(address);
            self.spans.iter_mut().skip(first).for_each(|span| span.link.clone_from(&uri));
        } else if !address.is_empty() {
            self.spans.extend(address_in_brackets(address, Style { dim: true, ..self.style }));
        }
        self.advance_past(rest.split_at(rest.len() - link.len() + close + end).0);
        MarkOutcome::Consumed
    }
}

#[cfg(test)]
#[allow(clippy::string_slice)]
mod tests {
    use super::*;

    /// Formats `b[bold]`: each styled span with the letters of its style.
    fn rendered(spans: &[Span]) -> String {
        let letters = |style: Style| {
            [
                (style.bold, 'b'),
                (style.dim, 'd'),
                (style.italic, 'i'),
                (style.underlined, 'u'),
                (style.struck, 's'),
                (style.code, 'c'),
            ]
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, letter)| *letter)
            .collect::<String>()
        };
        let text = |span: &Span| match &span.link {
            Some(uri) if *uri == span.text => format!("⟦{}⟧", span.text),
            Some(uri) => format!("⟦{uri}|{}⟧", span.text),
            None => span.text.clone(),
        };
        let same = |spans: &[Span]| match letters(spans[0].style) {
            none if none.is_empty() => spans.iter().map(text).collect(),
            letters => format!("{letters}‹{}›", spans.iter().map(text).collect::<String>()),
        };
        spans.chunk_by(|one, other| one.style == other.style).map(same).collect()
    }

    fn read_part(text: &str, has_ended: bool, spans: &mut Vec<Span>) -> usize {
        let input =
            InlineText { has_ended, finished: has_ended, ..InlineText::whole(text, MathNotation::Unicode) };
        read(input, &mut TextBefore::default(), Style::default(), spans)
    }

    fn whole(text: &str) -> String {
        let mut spans = Vec::new();
        read_whole(text, MathNotation::Unicode, Style::default(), &mut spans);
        rendered(&spans)
    }

    #[test]
    fn what_stands_within_a_line() {
        for (text, spans) in [
            ("plain 한글", "plain 한글"),
            ("a **b** c", "a b‹b› c"),
            ("a *b* _c_", "a i‹b› i‹c›"),
            ("***both***", "bi‹both›"),
            ("**a *b* c**", "b‹a ›bi‹b›b‹ c›"),
            ("**a *b***", "b‹a ›bi‹b›"),
            ("~~gone~~ ~5", "s‹gone› ~5"),
            ("`a*b*` and ``a`b``", "c‹a*b*› and c‹a`b›"),
            ("`` ` ``", "c‹`›"),
            ("**a `**` b**", "b‹a ›bc‹**›b‹ b›"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            ("snake_case_name and __init__", "snake_case_name and b‹init›"),
            ("한글**굵게**한글", "한글b‹굵게›한글"),
            ("**안 닫힘", "**안 닫힘"),
            ("`안 닫힘", "`안 닫힘"),
            ("** no **", "** no **"),
            (r"\*a\* \n", r"*a* \n"),
            ("[here](http://x.test/a_b_c)", "u‹here›d‹ (⟦http://x.test/a_b_c⟧)›"),
            ("[http://x.test](http://x.test) x", "u‹⟦http://x.test⟧› x"),
            ("[http://x/*a*](http://x/*a*)", "u‹⟦http://x/*a*|http://x/⟧›iu‹⟦http://x/*a*|a⟧›"),
            ("**[mail](mailto:a@b.test)**", "bu‹mail›bd‹ (⟦mailto:a@b.test⟧)›"),
            ("[길](https://x.test/길 '제목')", "u‹길›d‹ (⟦https://x.test/%EA%B8%B8|https://x.test/길⟧)›"),
            ("[f](file:///etc/passwd)", "u‹f›d‹ (file:///etc/passwd)›"),
            ("[**b**](<u> \"title\")!", "bu‹b›d‹ (u)›!"),
            ("[u](u)", "u‹u›"),
            ("![alt](a.png)", "u‹alt›d‹ (a.png)›"),
            ("[a](b(c))d", "u‹a›d‹ (b(c))›d"),
            ("[1] a[i] [x", "[1] a[i] [x"),
            ("wow! ![", "wow! !["),
            ("<U+202E> ␛[31m", "<U+202E> ␛[31m"),
            ("****", "****"),
            ("*", "*"),
        ] {
            assert_eq!(whole(text), spans, "{text}");
        }
    }

    #[test]
    fn text_comes_at_once_and_a_mark_waits_for_its_end() {
        for (text, spans, left) in [
            ("plain", "plain", ""),
            ("plain *", "plain ", "*"),
            ("a **bo", "a ", "**bo"),
            ("a **bo*", "a ", "**bo*"),
            ("a **bo** c", "a b‹bo› c", ""),
            ("a `b", "a ", "`b"),
            // Another backquote would make it a longer run.
            ("a `b`", "a ", "`b`"),
            ("a `b` ", "a c‹b› ", ""),
            ("[a", "", "[a"),
            ("[a]", "", "[a]"),
            ("[a] ", "[a] ", ""),
            ("[a](b", "", "[a](b"),
            ("hm!", "hm", "!"),
            ("a\\", "a", "\\"),
        ] {
            let mut read_so_far = Vec::new();
            let taken = read_part(text, false, &mut read_so_far);
            assert_eq!((rendered(&read_so_far).as_str(), &text[taken..]), (spans, left), "{text}");
        }
        for marks in ["*a ", "_a* ", "`` ", "[", "![", "[a]("] {
            // No mark here is closed; each is searched for once.
            let many = marks.repeat(3_000);
            for has_ended in [true, false] {
                let taken = read_part(&many, has_ended, &mut Vec::new());
                assert!(taken + MAX_WAIT > many.len(), "{marks}");
            }
        }
        let long = format!("*{}", "x".repeat(MAX_WAIT));
        assert_eq!(read_part(&long, false, &mut Vec::new()), long.len());
    }
}
