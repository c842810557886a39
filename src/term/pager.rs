//! Starts a pager for long output.

use std::io::{self, Write};
use std::process::{Child, Stdio};
use std::sync::Arc;

use super::is_dumb;
use super::links::{has_link, version, without_links};
use lepo_base::env;
use lepo_base::search_path::{self, SearchPath};

/// The version of less that passes links on.
/// <https://github.com/gwsw/less/commit/0f810ef16781bf0f59690be63af876bddabf68bf>
const LINKING_LESS: u32 = 566;

pub struct Pager {
    child: Child,
    /// Whether it passes links on; `None` until the first link.
    can_link: Option<bool>,
}

/// A pager that can be started: its command for the shell, and whether it passes links on.
pub struct ChosenPager {
    command: String,
    can_link: Option<bool>,
}

/// Returns `LEPO_PAGER`, else `PAGER`, else `less`, if found.
pub fn choose() -> Option<ChosenPager> {
    let is_there =
        |program: &str| program.contains('/') || SearchPath::current().find(program.as_ref()).is_some();
    // Without a terminal description a pager complains and waits for a key.
    if is_dumb() || env::var("TERM").is_none() {
        return None;
    }
    let command = env::text("LEPO_PAGER").or_else(|| env::text("PAGER"));
    match command {
        // The user's pager may print a link as text.
        Some(command) => check(command, Some(false), is_there),
        None => check("less -FRX".to_string(), None, is_there),
    }
}

/// Returns the pager of `command`; `None` if it is empty, is `cat`, or is not found.
fn check(command: String, can_link: Option<bool>, is_there: impl Fn(&str) -> bool) -> Option<ChosenPager> {
    let args = shlex::split(&command)?;
    let program = args.first().filter(|program| *program != "cat")?;
    if !program.contains('=') && !is_there(program) {
        return None;
    }
    Some(ChosenPager { command, can_link })
}

/// Starts the pager with the shell.
pub fn start(ChosenPager { command, can_link }: ChosenPager) -> Option<Pager> {
    let mut shell = search_path::command("sh");
    shell.arg("-c").arg(command).stdin(Stdio::piped());
    for (name, value) in [("LESS", "FRX"), ("LV", "-c"), ("LESSCHARSET", "utf-8")] {
        if env::var(name).is_none() {
            shell.env(name, value);
        }
    }
    let child = shell.spawn().ok()?;
    // Ctrl+C is for the pager; lepo ends when the pager does.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default());
    Some(Pager { child, can_link })
}

/// Asks less for its version.
fn can_less_link() -> bool {
    let ran = search_path::command("less").arg("--version").stdin(Stdio::null()).output();
    ran.is_ok_and(|ran| is_linking_less(&String::from_utf8_lossy(&ran.stdout)))
}

fn is_linking_less(version_text: &str) -> bool {
    let number = version_text.strip_prefix("less ").and_then(version);
    number.is_some_and(|(major, _)| major >= LINKING_LESS)
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(stdin) = &mut self.child.stdin else { return Err(io::ErrorKind::BrokenPipe.into()) };
        if !has_link(bytes) || *self.can_link.get_or_insert_with(can_less_link) {
            return stdin.write(bytes);
        }
        // A sequence is never divided between two calls: each is what one or more calls of `Out` wrote.
        stdin.write_all(&without_links(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until the user quits the pager.
impl Drop for Pager {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_has_links_from_566() {
        for (text, is_new) in [
            ("less 590 (GNU regular expressions)\nCopyright", true),
            ("less 566 (x)", true),
            ("less 581.2 (POSIX regular expressions)", true),
            ("less 563 (x)", false),
            ("less 60", false),
            ("less", false),
            ("BusyBox v1.36.1", false),
            ("", false),
        ] {
            assert_eq!(is_linking_less(text), is_new, "{text}");
        }
    }

    #[test]
    fn what_is_no_pager_starts_nothing() {
        for command in ["", "  ", "cat", "no-such-pager -x", "'unclosed"] {
            assert!(
                check(command.to_string(), None, |program| program != "no-such-pager").is_none(),
                "{command:?}"
            );
        }
    }
}
