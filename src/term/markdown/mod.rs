//! Paints the Markdown of an answer for a terminal as it arrives.
//!
//! Printed text is never redrawn, so nothing moves and a resized window stays correct. Text waits only until
//! the form of its line is decided (by its first characters), its word ends and an open emphasis is closed; a
//! line of code waits for its end, and a table for the end of the table.

mod code;
mod inline;
mod line;
mod style;
mod table;

use code::Language;
use line::{FenceMark, LineForm};
use style::{Span, Style};

use super::wrap::Wrap;
use super::{Cleaner, Paint};

/// Bytes to wait for the end of a line of code, for a table or for the form of a line.
const PATIENCE: usize = 64 << 10;

pub struct Markdown {
    paint: Paint,
    columns: fn() -> usize,
    cleaner: Cleaner,
    /// Text whose form is undecided.
    pending: String,
    place: BlockState,
    /// Wraps prose; code and tables are not wrapped.
    wrap: Wrap,
}

/// The block that `pending` continues.
enum BlockState {
    /// At the start of a line; `quoted` inside a quote.
    Start { quoted: bool },
    /// Within a line of text, after this character.
    Within(Style, Option<char>),
    /// Within a block of code.
    Code(FenceMark, Language),
    /// Possibly in a table: its lines so far.
    Table(Vec<String>),
}

const START: BlockState = BlockState::Start { quoted: false };

impl Markdown {
    /// `columns` returns the terminal's width at the moment a table is laid out.
    pub fn new(paint: Paint, columns: fn() -> usize) -> Markdown {
        let wrap = Wrap::new(columns);
        Markdown { paint, columns, cleaner: Cleaner::default(), pending: String::new(), place: START, wrap }
    }

    /// Appends the output that is certain once `bytes` have arrived.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        self.cleaner.push(bytes, &mut self.pending);
        self.go(false, out);
    }

    pub fn finish(&mut self, out: &mut String) {
        self.cleaner.finish(&mut self.pending);
        self.go(true, out);
        self.end_table(out);
        self.wrap.finish(out);
        self.wrap = Wrap::new(self.columns);
        self.place = START;
    }

    fn go(&mut self, finished: bool, out: &mut String) {
        let mut text = std::mem::take(&mut self.pending);
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (line, after) = match rest.split_once('\n') {
                Some((line, after)) => (line, Some(after)),
                None => (rest, None),
            };
            let ended = after.is_some() || finished;
            let Some(taken) = self.step(line, ended, out) else { break };
            rest = match after {
                Some(after) if taken == line.len() => {
                    self.end_line(out);
                    after
                }
                _ => rest.split_at(taken).1,
            };
        }
        let left = rest.len();
        text.drain(..text.len() - left);
        self.pending = text;
    }

    /// Handles a line or its beginning; returns the number of bytes consumed, `None` or 0 if it must wait.
    fn step(&mut self, line: &str, ended: bool, out: &mut String) -> Option<usize> {
        match &mut self.place {
            BlockState::Start { quoted } => {
                let quoted = *quoted;
                let form = match line::form(line, ended) {
                    None if line.len() < PATIENCE => return None,
                    form => form.unwrap_or(LineForm::Text),
                };
                self.start_line(form, quoted, line, out)
            }
            // Fast path for most text.
            BlockState::Within(style, before) if *style == Style::default() && !inline::has_marks(line) => {
                *before = line.chars().next_back().or(*before);
                self.wrap.push(line, out);
                Some(line.len())
            }
            BlockState::Within(style, before) => {
                let (style, mut spans) = (*style, Vec::new());
                let taken = inline::read(line, *before, ended, style, &mut spans);
                *before = line.split_at(taken).0.chars().next_back().or(*before);
                let mut painted = String::new();
                spans.iter().for_each(|span| span.paint(self.paint, &mut painted));
                self.wrap.push(&painted, out);
                (taken > 0 || ended).then_some(taken)
            }
            BlockState::Code(fence, language) => {
                if !ended && line.len() < PATIENCE {
                    return None;
                }
                if fence.is_closed_by(line) {
                    Span::new(line, Style::DIM).paint(self.paint, out);
                    self.place = BlockState::Within(Style::default(), None);
                } else {
                    language.paint(line, self.paint, out);
                }
                Some(line.len())
            }
            BlockState::Table(lines) => {
                let length: usize = lines.iter().map(String::len).sum();
                match line::form(line, ended) {
                    None if length + line.len() < PATIENCE => None,
                    Some(LineForm::Row) if length < PATIENCE && is_table(lines, line) => {
                        lines.push(line.to_string());
                        Some(line.len())
                    }
                    _ => {
                        self.end_table(out);
                        Some(0)
                    }
                }
            }
        }
    }

    fn start_line(&mut self, form: LineForm, quoted: bool, line: &str, out: &mut String) -> Option<usize> {
        let paint = self.paint;
        let (taken, style) = match form {
            LineForm::Text => (0, Style::default()),
            LineForm::Heading { level, taken } => (taken, Style { underlined: level == 1, ..Style::BOLD }),
            LineForm::Item { mark, text, taken } => {
                let indent = mark.replace('\t', "    ");
                let again = " ".repeat(indent.len() + text.chars().count() + 1);
                self.wrap.mark(&format!("{indent}{} ", paint.cyan(&text)), &again, out);
                (taken, Style::default())
            }
            LineForm::Quote { taken } => {
                let bar = paint.dim("│ ");
                self.wrap.mark(&bar, &bar, out);
                self.place = BlockState::Start { quoted: true };
                return Some(taken);
            }
            LineForm::Rule => {
                out.push_str(&paint.dim(&"─".repeat((self.columns)().min(40))));
                (line.len(), Style::default())
            }
            LineForm::Fence(fence) if !quoted => {
                let language = Language::parse(fence.info(line));
                Span::new(line, Style::DIM).paint(paint, out);
                self.place = BlockState::Code(fence, language);
                return Some(line.len());
            }
            LineForm::Row if !quoted => {
                self.place = BlockState::Table(vec![line.to_string()]);
                return Some(line.len());
            }
            LineForm::Fence(_) | LineForm::Row => (0, Style::default()),
        };
        self.place = BlockState::Within(style, None);
        Some(taken)
    }

    fn end_line(&mut self, out: &mut String) {
        match self.place {
            // The table is printed as a whole when it ends.
            BlockState::Table(_) => {}
            BlockState::Code(..) => out.push('\n'),
            BlockState::Start { .. } | BlockState::Within(..) => {
                self.wrap.newline(out);
                self.place = START;
            }
        }
    }

    /// Prints the pending table, or its lines as text if it is not one.
    fn end_table(&mut self, out: &mut String) {
        let BlockState::Table(lines) = std::mem::replace(&mut self.place, START) else { return };
        let is_one = lines.get(1).is_some_and(|line| table::is_delimiter(line));
        if is_one && table::render(&lines, (self.columns)(), self.paint, out) {
            return;
        }
        for line in lines {
            let mut spans = Vec::new();
            inline::read(&line, None, true, Style::default(), &mut spans);
            let mut painted = String::new();
            spans.iter().for_each(|span| span.paint(self.paint, &mut painted));
            self.wrap.push(&painted, out);
            self.wrap.newline(out);
        }
    }
}

/// Whether the row continues a possible table: the second line decides.
fn is_table(lines: &[String], line: &str) -> bool {
    lines.len() > 1 || table::is_delimiter(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Color;

    fn markdown() -> Markdown {
        Markdown::new(Paint::new(Color::Always, true, |_| None), || 40)
    }

    /// Renders a text that arrives in these chunks, with paint as `‹CODE:…›`.
    fn rendered<'t>(pieces: impl IntoIterator<Item = &'t [u8]>) -> String {
        let (mut markdown, mut out) = (markdown(), String::new());
        pieces.into_iter().for_each(|piece| markdown.push(piece, &mut out));
        markdown.finish(&mut out);
        legible(&out)
    }

    fn legible(painted: &str) -> String {
        let mut parts = painted.split("\u{1b}[");
        let first = parts.next().unwrap_or_default().to_string();
        parts.fold(first, |shown, part| match part.split_once('m').unwrap() {
            ("0", rest) => format!("{shown}›{rest}"),
            (code, rest) => format!("{shown}‹{code}:{rest}"),
        })
    }

    /// Joins adjacent spans of one style: chunk boundaries may split them.
    fn joined(shown: &str) -> String {
        let mut parts = shown.split('‹');
        let mut joined = parts.next().unwrap_or_default().to_string();
        let mut last = "";
        for part in parts {
            let (code, text) = part.split_once(':').unwrap();
            match joined.strip_suffix('›').filter(|_| code == last) {
                Some(open) => joined = format!("{open}{text}"),
                None => joined = format!("{joined}‹{code}:{text}"),
            }
            last = code;
        }
        joined
    }

    const CASES: &[(&str, &str)] = &[
        ("plain\n\ntext", "plain\n\ntext"),
        ("# One\n## Two *x*\n####### no", "‹1;4:One›\n‹1:Two ›‹1;3:x›\n####### no"),
        ("#no #hash", "#no #hash"),
        ("- a\n  * b\n+ c\n-d", "‹36:•› a\n  ‹36:•› b\n‹36:•› c\n-d"),
        ("1. one\n10) ten\n1.5 is", "‹36:1.› one\n‹36:10)› ten\n1.5 is"),
        ("- [ ] todo\n- [x] done\n- [a] b", "‹36:☐› todo\n‹36:☑› done\n‹36:•› [a] b"),
        ("> said\n>> twice\n> - x", "‹2:│ ›said\n‹2:│ ›‹2:│ ›twice\n‹2:│ ›‹36:•› x"),
        ("- - -\n", "‹2:────────────────────────────────────────›\n"),
        (
            "***\n___",
            "‹2:────────────────────────────────────────›\n‹2:────────────────────────────────────────›",
        ),
        ("**bold** start\n* * *x", "‹1:bold› start\n‹36:•› * *x"),
        (
            "```rust\nlet x = 1;\n\n# no\n```\nafter",
            "‹2:```rust›\n‹35:let› x = ‹33:1›;\n\n# no\n‹2:```›\nafter",
        ),
        ("  ~~~\n  a ``` b\n  ~~~~\nz", "‹2:  ~~~›\n  a ``` b\n‹2:  ~~~~›\nz"),
        ("```inline``` code", "‹36:inline› code"),
        ("```\nnever closed", "‹2:```›\nnever closed"),
        ("a\n|x|y|\n|-|-|\n|1|2|\n\nb", "a\n‹1:x›  ‹2: │ ›‹1:y›\n‹2:────┼────›\n1  ‹2: │ ›2\n\nb"),
        ("|x|y|\n|-|-|\nb", "‹1:x›  ‹2: │ ›‹1:y›\n‹2:────┼────›\nb"),
        ("|x|\n|y|\n", "|x|\n|y|\n"),
        ("|not a table", "|not a table\n"),
        ("tab\there <U+0000>", "tab     here <U+0000>"),
        ("한글 **굵게** 끝\r\n", "한글 ‹1:굵게› 끝␍\n"),
        ("", ""),
        ("\n\n", "\n\n"),
    ];

    #[test]
    fn forms_are_painted() {
        for (text, painted) in CASES {
            assert_eq!(&rendered([text.as_bytes()]), painted, "{text}");
        }
    }

    #[test]
    fn pieces_give_what_the_whole_gives() {
        for (text, painted) in CASES {
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(joined(&rendered(bytes)), joined(painted), "{text}");
        }
    }

    #[test]
    fn text_is_shown_at_once_and_code_by_the_line() {
        for (text, painted) in [
            ("The answer", "The"),
            ("The answer is", "The answer"),
            ("- ", ""),
            ("- a ", "‹36:•› a"),
            ("1", ""),
            ("1. o ", "‹36:1.› o"),
            ("a **b", "a"),
            ("```rust\nlet x", "‹2:```rust›\n"),
            ("```rust\nlet x\n", "‹2:```rust›\n‹35:let› x\n"),
            ("|a|b|\n|-|-|\n|1|2|\n", ""),
        ] {
            let (mut markdown, mut out) = (markdown(), String::new());
            markdown.push(text.as_bytes(), &mut out);
            assert_eq!(legible(&out), painted, "{text}");
        }
    }

    #[test]
    fn prose_breaks_between_words_and_its_marks_are_repeated() {
        for (text, painted) in [
            (
                "One sentence that is longer than forty columns, and **bold words** in it.",
                "One sentence that is longer than forty\ncolumns, and ‹1:bold words› in it.",
            ),
            (
                "- a point that is longer than forty columns is\n  1. nested, and longer than forty columns\n",
                "‹36:•› a point that is longer than forty\n  columns is\n  ‹36:1.› nested, and longer than forty\n     columns\n",
            ),
            (
                "> a quotation that is longer than forty columns",
                "‹2:│ ›a quotation that is longer than forty\n‹2:│ ›columns",
            ),
            (
                "긴 한국어 문장은 낱말 사이에서 나뉘고, 낱말 안에서는 나뉘지 않습니다.",
                "긴 한국어 문장은 낱말 사이에서 나뉘고,\n낱말 안에서는 나뉘지 않습니다.",
            ),
            (
                "```\nlet code_is_never_broken = \"wherever its line ends\";\n```",
                "‹2:```›\nlet code_is_never_broken = \"wherever its line ends\";\n‹2:```›",
            ),
        ] {
            assert_eq!(rendered([text.as_bytes()]), painted, "{text}");
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(joined(&rendered(bytes)), joined(painted), "{text}");
        }
    }

    #[test]
    fn nothing_a_model_says_can_drive_the_terminal() {
        assert_eq!(rendered([b"**a\x1b[2J".as_slice(), b"b** `\x1b]0;x\x07`"]), "‹1:a␛[2Jb› ‹36:␛]0;x␇›");
    }
}
