//! Queries the terminal's size and abilities, and writes raw text to it.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec};

use lepo_base::env;

/// Returns columns and rows; `None` if unknown.
pub fn size_of(terminal: impl AsFd) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some((usize::from(size.ws_col), usize::from(size.ws_row)))
        .filter(|&(columns, rows)| columns > 0 && rows > 0)
}

/// Returns the current width of the terminal on stdout; 80 if unknown.
pub fn columns() -> usize {
    size_of(rustix::stdio::stdout()).map_or(80, |(columns, _)| columns)
}

/// How many entries of `lines` lines a list may have, at most `most`, so that its first one stays on the
/// screen.
pub fn fitting(lines: usize, most: usize) -> usize {
    // Reserves the entered line, a line below the list, and the prompt.
    let rows = size_of(rustix::stdio::stdout()).map(|(_, rows)| rows.saturating_sub(4) / lines.max(1));
    rows.unwrap_or(most).clamp(1, most)
}

/// Whether the terminal cannot move its cursor: `TERM` is `dumb` or empty.
pub fn is_dumb() -> bool {
    is_dumb_term(env::var("TERM"))
}

pub fn is_dumb_term(term: Option<OsString>) -> bool {
    term.is_some_and(|term| term.is_empty() || term == "dumb")
}

/// Returns text that erases the short current line: blanks without control sequences.
pub fn erase_line() -> &'static str {
    match is_dumb() {
        true => "\r                                        \r",
        false => "\r\u{1b}[K",
    }
}

pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Whether stdout and stderr are one file or pipe, as after `2>&1`.
pub fn stderr_is_stdout() -> bool {
    let identity = |fd| rustix::fs::fstat(fd).map(|stat| (stat.st_dev, stat.st_ino));
    matches!((identity(rustix::stdio::stdout()), identity(rustix::stdio::stderr())),
        (Ok(one), Ok(other)) if one == other)
}

/// Writes `text` to stderr unchanged: foreign text must be cleaned before.
pub fn show(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Returns false once stdout is a pipe whose reader has closed it.
pub fn stdout_is_read() -> bool {
    !events_of(&rustix::stdio::stdout()).contains(PollFlags::ERR)
}

/// Whether the terminal on stdin is gone: reading it returns end-of-file for ever.
pub fn stdin_is_gone() -> bool {
    events_of(&rustix::stdio::stdin()).intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

/// Returns the events that poll reports unrequested: errors, and a hang-up.
fn events_of(descriptor: &BorrowedFd<'_>) -> PollFlags {
    let mut fds = [PollFd::new(descriptor, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    match rustix::event::poll(&mut fds, Some(&at_once)) {
        Ok(_) => fds[0].revents(),
        Err(_) => PollFlags::empty(),
    }
}
