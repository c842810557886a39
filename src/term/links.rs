//! Links a terminal opens by a click (OSC 8), for terminals known to show them.
//!
//! A terminal ignores the sequence by the standard if it does not know it; some old ones print it, so that no unknown
//! one gets it. <https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda>

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::terminal::is_dumb_term;

/// Begins a link, with its URI and [`END`] after it; ends one if no URI follows.
const START: &str = "\u{1b}]8;;";

/// The form that every terminal of the table and `less` accept.
const END: char = '\u{7}';

/// Bytes of the longest URI: VTE ignores those over 2,083.
const LONGEST: usize = 2000;

/// The first version of tmux that passes links on.
/// <https://github.com/tmux/tmux/commit/cdacc12ce305ad2f3e65e2a01328a988e3200b51>
const TMUX: (u32, u32) = (3, 4);

enum TerminalMark {
    /// The value, or it with a suffix after `-`.
    Name(&'static str),
    /// Any value.
    Set,
    /// A number, at least this one.
    AtLeast(u32),
}

use TerminalMark::{AtLeast, Name, Set};

/// Variables that terminals with links set.
const TERMINALS: &[(&str, TerminalMark)] = &[
    // https://gitlab.com/gnachman/iterm2/-/issues/5158, since 3.1.
    ("TERM_PROGRAM", Name("iTerm.app")),
    // https://wezterm.org/recipes/hyperlinks.html
    ("TERM_PROGRAM", Name("WezTerm")),
    // https://github.com/xtermjs/xterm.js/releases/tag/5.0.0, in 1.72.
    ("TERM_PROGRAM", Name("vscode")),
    // https://github.com/ghostty-org/website/blob/main/docs/vt/osc/8.mdx
    ("TERM_PROGRAM", Name("ghostty")),
    // https://github.com/mintty/mintty/releases/tag/2.9.7
    ("TERM_PROGRAM", Name("mintty")),
    // https://github.com/kovidgoyal/kitty/issues/68, since 0.19.
    ("TERM", Name("xterm-kitty")),
    // As TERM_PROGRAM, which ssh does not pass on.
    ("TERM", Name("xterm-ghostty")),
    ("TERM", Name("wezterm")),
    // https://github.com/alacritty/alacritty/releases/tag/v0.11.0
    ("TERM", Name("alacritty")),
    // https://codeberg.org/dnkl/foot/releases/tag/1.7.0
    ("TERM", Name("foot")),
    // As TERM, which users set to xterm-256color.
    ("KITTY_WINDOW_ID", Set),
    // https://github.com/microsoft/terminal/releases/tag/v1.4.3141.0
    ("WT_SESSION", Set),
    // https://bugzilla.gnome.org/show_bug.cgi?id=779734, in 0.50.
    ("VTE_VERSION", AtLeast(5000)),
    // https://invent.kde.org/utilities/konsole/-/merge_requests/138, in 20.12.
    ("KONSOLE_VERSION", AtLeast(201_200)),
];

/// Whether the terminal that these variables describe shows links.
pub fn shows_links(env: impl Fn(&str) -> Option<OsString>) -> bool {
    let text = |name: &str| env(name).and_then(|value| value.into_string().ok()).unwrap_or_default();
    let (term, program) = (text("TERM"), text("TERM_PROGRAM"));
    let has_tmux = !text("TMUX").is_empty();
    // The variables of the terminal outside are visible in screen and in tmux too.
    if is_dumb_term(env("TERM")) || !text("STY").is_empty() || (term.starts_with("screen") && !has_tmux) {
        return false;
    }
    if has_tmux || program == "tmux" {
        return program == "tmux" && version(&text("TERM_PROGRAM_VERSION")) >= Some(TMUX);
    }
    TERMINALS.iter().any(|(name, mark)| {
        let value = text(name);
        match mark {
            Name(name) => {
                value.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            }
            Set => !value.is_empty(),
            AtLeast(least) => value.parse().is_ok_and(|number: u32| number >= *least),
        }
    })
}

/// Parses `3.4`, `3.5a`, `next-3.6`, `590`.
pub fn version(text: &str) -> Option<(u32, u32)> {
    let text = text.strip_prefix("next-").unwrap_or(text);
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text.get(..end)?.parse().ok()
    };
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    Some((number(major)?, number(minor).unwrap_or_default()))
}

/// Formats a link.
pub fn linked(uri: &str, text: &str) -> String {
    format!("{START}{uri}{END}{text}{START}{END}")
}

/// Returns the URI of an address in Markdown; `None` if it is not one of the web or of mail, or is too long.
pub fn web_uri(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once(':')?;
    let is_web = (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
        && rest.strip_prefix("//").is_some_and(|rest| !rest.is_empty());
    let is_mail = scheme.eq_ignore_ascii_case("mailto") && !rest.is_empty();
    let uri = encoded(address.as_bytes(), |byte| byte.is_ascii_graphic());
    Some(uri).filter(|uri| (is_web || is_mail) && uri.len() <= LONGEST)
}

/// Returns the URI of a file, with this machine's name: a terminal must know whether the file is its own.
pub fn file_uri(path: &Path) -> Option<String> {
    let mut whole = PathBuf::new();
    for part in std::path::absolute(path).ok()?.components() {
        match part {
            // The working directory has no symlinks in its path.
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let name = rustix::system::uname();
    let host = encoded(name.nodename().to_bytes(), is_unreserved);
    let path = encoded(whole.as_os_str().as_bytes(), |byte| byte == b'/' || is_unreserved(byte));
    Some(format!("file://{host}{path}")).filter(|uri| uri.len() <= LONGEST)
}

/// Encodes all other bytes by a percent sign.
fn encoded(bytes: &[u8], is_literal: impl Fn(u8) -> bool) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match is_literal(byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// The link that is open at the end of a text.
#[derive(Debug, Default)]
pub struct OpenLink(String);

impl OpenLink {
    /// Notes an escape sequence; false if it is not one of a link.
    pub fn read(&mut self, sequence: &str) -> bool {
        let uri = sequence.strip_prefix(START);
        if let Some(uri) = uri {
            self.0 = if uri.starts_with(END) { String::new() } else { sequence.to_string() };
        }
        uri.is_some()
    }

    /// Returns the sequences that close the link and open it again.
    pub fn ends(&self) -> (String, &str) {
        match self.0.is_empty() {
            true => (String::new(), ""),
            false => (format!("{START}{END}"), &self.0),
        }
    }
}

pub fn has_link(bytes: &[u8]) -> bool {
    start_of_link(bytes).is_some()
}

fn start_of_link(bytes: &[u8]) -> Option<usize> {
    bytes.windows(START.len()).position(|part| part == START.as_bytes())
}

/// Returns whole sequences and text without the sequences of links.
pub fn without_links(mut bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    while let Some(start) = start_of_link(bytes) {
        let (before, link) = bytes.split_at(start);
        plain.extend_from_slice(before);
        let end = link.iter().position(|byte| char::from(*byte) == END).map_or(link.len(), |at| at + 1);
        bytes = link.split_at(end).1;
    }
    plain.extend_from_slice(bytes);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_for_terminals_that_are_known_to_show_them() {
        for (variables, is_known) in [
            ("", false),
            ("TERM=xterm-256color", false),
            ("TERM=xterm-kitty", true),
            ("TERM=foot-extra", true),
            ("TERM=footer", false),
            ("TERM=alacritty", true),
            ("TERM_PROGRAM=iTerm.app TERM=xterm-256color", true),
            ("TERM_PROGRAM=WezTerm", true),
            ("TERM_PROGRAM=vscode", true),
            ("TERM_PROGRAM=ghostty", true),
            ("TERM_PROGRAM=Apple_Terminal TERM=xterm-256color", false),
            ("KITTY_WINDOW_ID=1", true),
            ("KITTY_WINDOW_ID=", false),
            ("WT_SESSION=0f", true),
            ("VTE_VERSION=4999", false),
            ("VTE_VERSION=5000", true),
            ("VTE_VERSION=7402 TERM=xterm-256color", true),
            ("VTE_VERSION=new", false),
            ("KONSOLE_VERSION=200800", false),
            ("KONSOLE_VERSION=201200", true),
            ("TERM=dumb KITTY_WINDOW_ID=1", false),
            ("TERM= KITTY_WINDOW_ID=1", false),
            // Multiplexers.
            ("STY=1.pts KITTY_WINDOW_ID=1 TERM=xterm-kitty", false),
            ("TERM=screen.xterm-256color KITTY_WINDOW_ID=1", false),
            ("TMUX=/tmp/t KITTY_WINDOW_ID=1", false),
            ("TMUX=/tmp/t TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.3a VTE_VERSION=7402", false),
            ("TMUX=/tmp/t TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.4 TERM=screen-256color", true),
            ("TMUX=/tmp/t TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.10b", true),
            ("TMUX=/tmp/t TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=next-3.6", true),
            ("TMUX=/tmp/t TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=master", false),
            ("TMUX=/tmp/t TERM_PROGRAM=tmux", false),
            ("TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.3 WT_SESSION=1", false),
            ("TMUX=/tmp/t STY=1.pts TERM_PROGRAM=tmux TERM_PROGRAM_VERSION=3.4", false),
        ] {
            let env = |name: &str| {
                let value = variables.split(' ').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
                value.map(OsString::from)
            };
            assert_eq!(shows_links(env), is_known, "{variables}");
        }
    }

    #[test]
    fn addresses_of_the_web_and_of_mail_are_linked() {
        for (address, uri) in [
            ("https://a.test/b?c=d;e#f", Some("https://a.test/b?c=d;e#f")),
            ("HTTP://a.test", Some("HTTP://a.test")),
            ("mailto:a@b.test", Some("mailto:a@b.test")),
            ("https://a.test/한", Some("https://a.test/%ED%95%9C")),
            ("https://a.test/\u{1b}]8;;\u{7}", Some("https://a.test/%1B]8;;%07")),
            ("https://a.test/a b", Some("https://a.test/a%20b")),
            ("https://", None),
            ("https:a", None),
            ("mailto:", None),
            ("javascript:alert(1)", None),
            ("file:///etc/passwd", None),
            ("a.md", None),
            ("", None),
        ] {
            assert_eq!(web_uri(address).as_deref(), uri, "{address}");
        }
        let begin = "https://a.test/";
        for (letter, count, is_linked) in [("a", 1985, true), ("a", 1986, false), ("한", 221, false)] {
            let address = format!("{begin}{}", letter.repeat(count));
            assert_eq!(web_uri(&address).is_some(), is_linked, "{count} {letter}");
        }
    }

    #[test]
    fn a_file_is_linked_by_its_whole_path() {
        let name = rustix::system::uname();
        let host = name.nodename().to_str().unwrap();
        let cwd = std::env::current_dir().unwrap();
        let parent = cwd.parent().unwrap().to_str().unwrap();
        for (path, uri) in [
            ("/a/b c;%/한.md", "/a/b%20c%3B%25/%ED%95%9C.md".to_string()),
            ("/a/../b.md", "/b.md".into()),
            ("../.lepo/x.md", format!("{}/.lepo/x.md", parent.trim_end_matches('/'))),
        ] {
            assert_eq!(file_uri(Path::new(path)).unwrap(), format!("file://{host}{uri}"), "{path}");
        }
        assert_eq!(file_uri(Path::new(&format!("/{}", "x".repeat(LONGEST)))), None);
    }

    #[test]
    fn text_without_its_links_is_what_it_was() {
        for (text, plain) in [
            ("", ""),
            ("a\u{1b}[2mb\u{1b}[0m", "a\u{1b}[2mb\u{1b}[0m"),
            ("a \u{1b}]8;;x:y\u{7}b\u{1b}]8;;\u{7} c.", "a b c."),
            ("a\u{1b}]8;;open", "a"),
        ] {
            assert_eq!(without_links(text.as_bytes()), plain.as_bytes(), "{text:?}");
            assert_eq!(has_link(text.as_bytes()), text != plain);
        }
    }
}
