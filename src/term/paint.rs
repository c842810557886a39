//! Colours text on a terminal, unless `NO_COLOR` is set or `--color` decides. With colours, a terminal known to show
//! links gets them.

use std::path::PathBuf;

use super::links;
use super::terminal::is_dumb_term;

/// The values of `--color`.
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
    has_links: bool,
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
        Paint { on, has_links: on && is_terminal && links::shows_links(env) }
    }

    /// Decides for stderr and for headings, which `FORCE_COLOR` and `CLICOLOR_FORCE` colour outside a terminal too. CI
    /// systems set these for all programs, so that lines that scripts read need `--color=always`.
    pub fn forced(
        color: Color,
        is_terminal: bool,
        env: impl Fn(&str) -> Option<std::ffi::OsString>,
    ) -> Paint {
        let is_set = |name: &str| env(name).is_some_and(|value| !value.is_empty() && value != "0");
        let is_forced = is_set("FORCE_COLOR") || is_set("CLICOLOR_FORCE");
        let no_color = env("NO_COLOR").is_some_and(|value| !value.is_empty());
        match color {
            Color::Auto if is_forced && !is_terminal && !no_color => Paint { on: true, has_links: false },
            _ => Paint::new(color, is_terminal, env),
        }
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

    /// Links `text` to `uri`, which has printable ASCII only.
    pub fn link(self, uri: &str, text: &str) -> String {
        match self.has_links {
            true => links::linked(uri, text),
            false => text.to_string(),
        }
    }

    /// Links `text` to a file; `path` is called only if the terminal shows links.
    pub fn file_link(self, path: impl FnOnce() -> PathBuf, text: &str) -> String {
        match self.has_links.then(|| links::file_uri(&path())).flatten() {
            Some(uri) => links::linked(&uri, text),
            None => text.to_string(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_force_colours_of_headings_unless_no_color_or_the_option_decides() {
        for (color, is_terminal, variables, is_plain, is_heading) in [
            (Color::Auto, false, "", false, false),
            (Color::Auto, false, "FORCE_COLOR=1", false, true),
            (Color::Auto, false, "CLICOLOR_FORCE=1", false, true),
            (Color::Auto, false, "FORCE_COLOR=0", false, false),
            (Color::Auto, false, "FORCE_COLOR=", false, false),
            (Color::Auto, false, "FORCE_COLOR=1 NO_COLOR=1", false, false),
            (Color::Never, false, "FORCE_COLOR=1", false, false),
            (Color::Always, false, "NO_COLOR=1", true, true),
            (Color::Auto, true, "", true, true),
            (Color::Auto, true, "FORCE_COLOR=1 TERM=dumb", false, false),
        ] {
            let env = variable(variables);
            let made = (Paint::new(color, is_terminal, env).on, Paint::forced(color, is_terminal, env).on);
            assert_eq!(made, (is_plain, is_heading), "{color:?} {is_terminal} {variables}");
        }
    }

    #[test]
    fn links_need_colours_and_a_terminal() {
        for (color, is_terminal, variables, has_links) in [
            (Color::Auto, true, "TERM=xterm-kitty", true),
            (Color::Always, true, "TERM=xterm-kitty NO_COLOR=1", true),
            (Color::Auto, true, "TERM=xterm", false),
            (Color::Auto, true, "TERM=xterm-kitty NO_COLOR=1", false),
            (Color::Always, true, "TERM=dumb KITTY_WINDOW_ID=1", false),
            (Color::Never, true, "TERM=xterm-kitty", false),
            (Color::Auto, false, "TERM=xterm-kitty", false),
            (Color::Auto, false, "TERM=xterm-kitty FORCE_COLOR=1", false),
            (Color::Always, false, "TERM=xterm-kitty", false),
        ] {
            let env = variable(variables);
            for paint in [Paint::new(color, is_terminal, env), Paint::forced(color, is_terminal, env)] {
                let shown = if has_links { "\u{1b}]8;;a:\u{7}b\u{1b}]8;;\u{7}" } else { "b" };
                assert_eq!(paint.link("a:", "b"), shown, "{color:?} {is_terminal} {variables}");
            }
        }
    }

    fn variable(variables: &str) -> impl Fn(&str) -> Option<std::ffi::OsString> + Copy {
        move |name| {
            let value = variables.split(' ').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            value.map(std::ffi::OsString::from)
        }
    }
}
