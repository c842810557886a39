//! Starts a pager for long output.

use std::io::{self, Write};
use std::process::{Child, Stdio};
use std::sync::Arc;

use super::is_dumb;
use lepo_base::env;
use lepo_base::search_path::{self, SearchPath};

pub struct Pager {
    child: Child,
}

/// Starts `LEPO_PAGER`, else `PAGER`, else `less`.
pub fn start_chosen() -> Option<Pager> {
    let is_there =
        |program: &str| program.contains('/') || SearchPath::here().find(program.as_ref()).is_some();
    // Without a terminal description a pager complains and waits for a key.
    if is_dumb() || env::var("TERM").is_none() {
        return None;
    }
    let command = env::text("LEPO_PAGER").or_else(|| env::text("PAGER"));
    start(&command.unwrap_or_else(|| "less -FRX".to_string()), is_there)
}

/// Starts `command` by the shell; `None` if it is empty, is `cat`, or is not found.
fn start(command: &str, is_there: impl Fn(&str) -> bool) -> Option<Pager> {
    let words = shlex::split(command)?;
    let program = words.first().filter(|program| *program != "cat")?;
    if !program.contains('=') && !is_there(program) {
        return None;
    }
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
    Some(Pager { child })
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.child.stdin {
            Some(stdin) => stdin.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
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
    fn what_is_no_pager_starts_nothing() {
        for command in ["", "  ", "cat", "no-such-pager -x", "'unclosed"] {
            assert!(start(command, |program| program != "no-such-pager").is_none(), "{command:?}");
        }
    }
}
