//! Colour, where it is wanted: a terminal, no `NO_COLOR`, unless told otherwise.

use super::terminal::is_dumb_term;

/// The words of `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    #[default]
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// A painter: with colours or without.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Decides once: `env` is the process's environment.
    pub fn new(color: Color, is_terminal: bool, env: impl Fn(&str) -> Option<std::ffi::OsString>) -> Paint {
        let no_color = env("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = is_dumb_term(env("TERM"));
        let on = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !no_color && !dumb,
        };
        Paint { on }
    }

    /// Bold.
    pub fn bold(self, text: &str) -> String {
        self.sgr("1", text)
    }

    /// Faint, for what is beside the point.
    pub fn dim(self, text: &str) -> String {
        self.sgr("2", text)
    }

    /// An id.
    pub fn yellow(self, text: &str) -> String {
        self.sgr("33", text)
    }

    /// The user's side.
    pub fn cyan(self, text: &str) -> String {
        self.sgr("36", text)
    }

    /// The model's side.
    pub fn green(self, text: &str) -> String {
        self.sgr("32", text)
    }

    /// Red, for errors.
    pub fn red(self, text: &str) -> String {
        self.sgr("31", text)
    }

    /// There are colours.
    pub fn is_on(self) -> bool {
        self.on
    }

    /// The beginning and the end of red text that is written in pieces.
    pub fn red_ends(self) -> (&'static str, &'static str) {
        if self.on { ("\u{1b}[31m", "\u{1b}[0m") } else { ("", "") }
    }

    /// The beginning and the end of green text that is written in pieces.
    pub fn green_ends(self) -> (&'static str, &'static str) {
        if self.on { ("\u{1b}[32m", "\u{1b}[0m") } else { ("", "") }
    }

    /// Text between an SGR sequence of these codes and the one that ends all.
    pub fn sgr(self, code: &str, text: &str) -> String {
        match self.on && !text.is_empty() && !code.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_string(),
        }
    }
}
