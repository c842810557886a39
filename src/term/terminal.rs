//! The terminal: how large it is, what it can do, and text that is shown on it as it is.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec};

use lepo_base::env;

/// Columns and rows of the terminal of a descriptor; none where it does not say.
pub fn size_of(terminal: impl AsFd) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some((usize::from(size.ws_col), usize::from(size.ws_row)))
        .filter(|&(columns, rows)| columns > 0 && rows > 0)
}

/// The columns of the terminal on stdout now; 80 if it does not say.
pub fn columns() -> usize {
    size_of(rustix::stdio::stdout()).map_or(80, |(columns, _)| columns)
}

/// The most entries of so many lines that a list may have, so that its first one stays on the screen.
pub fn fitting(lines: usize, most: usize) -> usize {
    // The line that was entered, a line below the list, and the prompt.
    let rows = size_of(rustix::stdio::stdout()).map(|(_, rows)| rows.saturating_sub(4) / lines.max(1));
    rows.unwrap_or(most).clamp(1, most)
}

/// True if the terminal cannot move its cursor: `TERM` is `dumb`, or empty.
pub fn is_dumb() -> bool {
    is_dumb_term(env::var("TERM"))
}

/// True if this value of `TERM` means a terminal without control sequences.
pub fn is_dumb_term(term: Option<OsString>) -> bool {
    term.is_some_and(|term| term.is_empty() || term == "dumb")
}

/// Text that takes away the short line on which the cursor is: with blanks where there are no control sequences.
pub fn erase_line() -> &'static str {
    match is_dumb() {
        true => "\r                                        \r",
        false => "\r\u{1b}[K",
    }
}

/// True if stderr is a terminal.
pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// True if stdout and stderr are one file or pipe, as after `2>&1`.
pub fn stderr_is_stdout() -> bool {
    let identity = |fd| rustix::fs::fstat(fd).map(|stat| (stat.st_dev, stat.st_ino));
    matches!((identity(rustix::stdio::stdout()), identity(rustix::stdio::stderr())),
        (Ok(one), Ok(other)) if one == other)
}

/// Shows text on stderr as it is: text of others is cleaned before.
pub fn show(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// False once stdout is a pipe that was closed at its other end.
pub fn stdout_is_read() -> bool {
    !events_of(&rustix::stdio::stdout()).contains(PollFlags::ERR)
}

/// True once the terminal on stdin is gone: what reads it reads its end for ever.
pub fn stdin_is_gone() -> bool {
    events_of(&rustix::stdio::stdin()).intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

/// The events that a descriptor reports unasked: errors, and that its other end is gone.
fn events_of(descriptor: &BorrowedFd<'_>) -> PollFlags {
    let mut fds = [PollFd::new(descriptor, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    match rustix::event::poll(&mut fds, Some(&at_once)) {
        Ok(_) => fds[0].revents(),
        Err(_) => PollFlags::empty(),
    }
}
