//! A model's thinking on stderr: dim and wrapped under a line of its own, only its duration, or between plain
//! marks.

use std::time::Instant;

use crate::term::{Cleaner, Paint, Wrap, columns};
use lepo_turn::config::ThinkingShown;

const LINE: &str = "thinking…";

/// Erases the current line.
const TAKEN_AWAY: &str = "\r\u{1b}[K";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThinkingForm {
    /// Between marks, with the model's own line breaks, for a plain terminal.
    Marked,
    /// As the user configured.
    Chosen(ThinkingShown),
}

/// Prints consecutive blocks of thinking.
pub struct Thinking {
    form: ThinkingForm,
    paint: Paint,
    /// Escapes control characters, because thinking is foreign text, too.
    cleaner: Cleaner,
    wrap: Wrap,
    start: Instant,
    /// Whether only white space has arrived.
    is_empty: bool,
    /// Pending line ends, printed once more text arrives.
    line_ends: usize,
}

impl Thinking {
    /// Creates a printer in the form `wanted`, or with marks if `plain`.
    pub fn new(wanted: ThinkingShown, plain: bool, paint: Paint) -> Thinking {
        Thinking {
            form: if plain || !paint.is_on() { ThinkingForm::Marked } else { ThinkingForm::Chosen(wanted) },
            paint,
            cleaner: Cleaner::default(),
            wrap: Wrap::new(columns),
            start: Instant::now(),
            is_empty: true,
            line_ends: 0,
        }
    }

    /// Starts a block; `waiting` is the text on the screen so far.
    pub fn start(&mut self, waiting: &str) -> String {
        self.start = Instant::now();
        (self.is_empty, self.line_ends, self.wrap) = (true, 0, Wrap::new(columns));
        match self.form {
            ThinkingForm::Marked => "<<< Thinking >>>\n".to_string(),
            ThinkingForm::Chosen(ThinkingShown::Show) => self.paint.dim(LINE) + "\n",
            ThinkingForm::Chosen(ThinkingShown::Brief) => self.paint.dim(LINE),
            ThinkingForm::Chosen(ThinkingShown::Hide) => waiting.to_string(),
        }
    }

    pub fn push(&mut self, text: &str) -> String {
        let mut clean = String::new();
        self.cleaner.push(text.as_bytes(), &mut clean);
        match self.form {
            ThinkingForm::Marked => self.paint.dim(&clean),
            ThinkingForm::Chosen(ThinkingShown::Show) => {
                let shown = self.wrapped(&clean);
                self.paint.dim(&shown)
            }
            ThinkingForm::Chosen(ThinkingShown::Brief | ThinkingShown::Hide) => String::new(),
        }
    }

    pub fn end(&mut self) -> String {
        let mut rest = String::new();
        self.cleaner.finish(&mut rest);
        match self.form {
            ThinkingForm::Marked => format!("{rest}\n<<< End Thinking >>>\n"),
            ThinkingForm::Chosen(ThinkingShown::Show) => {
                let mut shown = self.wrapped(&rest);
                self.wrap.finish(&mut shown);
                let end = if self.is_empty { "" } else { "\n" };
                self.paint.dim(&shown) + end
            }
            ThinkingForm::Chosen(ThinkingShown::Brief) => {
                let seconds = self.start.elapsed().as_secs();
                format!("{TAKEN_AWAY}{}\n", self.paint.dim(&format!("thought for {seconds} s")))
            }
            ThinkingForm::Chosen(ThinkingShown::Hide) => TAKEN_AWAY.to_string(),
        }
    }

    /// Wraps text, without empty lines at the start and the end.
    fn wrapped(&mut self, text: &str) -> String {
        let mut shown = String::new();
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 && !self.is_empty {
                self.line_ends += 1;
            }
            if line.trim().is_empty() && (self.is_empty || self.line_ends > 0) {
                continue;
            }
            for _ in 0..std::mem::take(&mut self.line_ends) {
                self.wrap.newline(&mut shown);
            }
            self.wrap.push(line, &mut shown);
            self.is_empty = false;
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Color;

    fn rendered(wanted: ThinkingShown, plain: bool, pieces: &[&str]) -> String {
        let paint = Paint::new(Color::Always, true, |_| None);
        let mut thinking = Thinking::new(wanted, plain, paint);
        let mut all = thinking.start("Waiting");
        pieces.iter().for_each(|piece| all += &thinking.push(piece));
        all += &thinking.end();
        all.replace("\u{1b}[2m", "").replace("\u{1b}[0m", "")
    }

    #[test]
    fn it_is_shown_as_it_is_wanted() {
        use ThinkingShown::{Brief, Hide, Show};
        let pieces = &["\n\n음… ", "hm\n\n", "so.\n", "\n"];
        for (wanted, plain, expected) in [
            (Show, false, "thinking…\n음… hm\n\nso.\n"),
            (Brief, false, "thinking…\r\u{1b}[Kthought for 0 s\n"),
            (Hide, false, "Waiting\r\u{1b}[K"),
            (Show, true, "<<< Thinking >>>\n\n\n음… hm\n\nso.\n\n\n<<< End Thinking >>>\n"),
            (Hide, true, "<<< Thinking >>>\n\n\n음… hm\n\nso.\n\n\n<<< End Thinking >>>\n"),
        ] {
            assert_eq!(rendered(wanted, plain, pieces), expected, "{wanted:?} {plain}");
        }
        assert_eq!(rendered(Show, false, &[" ", "\n"]), "thinking…\n");
    }

    #[test]
    fn no_line_is_broken_within_a_word_and_nothing_drives_the_terminal() {
        let long = "word ".repeat(40);
        let text = rendered(ThinkingShown::Show, false, &[&long, "\u{1b}[2J"]);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("word")), "{text}");
        assert!(text.ends_with("␛[2J\n"), "{text}");
    }
}
