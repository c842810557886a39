//! Colours text on a terminal, unless `NO_COLOR` is set or `--color` decides.

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

#[derive(Debug, Clone, Copy)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Decides once, with `env` reading the process environment.
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

    pub fn bold(self, text: &str) -> String {
        self.sgr("1", text)
    }

    /// For secondary text.
    pub fn dim(self, text: &str) -> String {
        self.sgr("2", text)
    }

    /// For ids.
    pub fn yellow(self, text: &str) -> String {
        self.sgr("33", text)
    }

    /// For the user's messages.
    pub fn cyan(self, text: &str) -> String {
        self.sgr("36", text)
    }

    /// For the model's messages.
    pub fn green(self, text: &str) -> String {
        self.sgr("32", text)
    }

    /// For errors.
    pub fn red(self, text: &str) -> String {
        self.sgr("31", text)
    }

    pub fn is_on(self) -> bool {
        self.on
    }

    /// Start and end sequence, for writing red text in parts.
    pub fn red_ends(self) -> (&'static str, &'static str) {
        if self.on { ("\u{1b}[31m", "\u{1b}[0m") } else { ("", "") }
    }

    /// Start and end sequence, for writing green text in parts.
    pub fn green_ends(self) -> (&'static str, &'static str) {
        if self.on { ("\u{1b}[32m", "\u{1b}[0m") } else { ("", "") }
    }

    /// Wraps `text` in the SGR sequence `code` and a reset.
    pub fn sgr(self, code: &str, text: &str) -> String {
        match self.on && !text.is_empty() && !code.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_string(),
        }
    }
}
