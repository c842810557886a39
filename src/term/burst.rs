//! Detects input that arrives at once without paste marks: typed by another program, or pasted where the
//! terminal has no bracketed paste.

use std::time::Duration;

use ratatui::crossterm::event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// Whether more input arrives within this time.
pub fn has_more_input(within: Duration) -> bool {
    has_input() || event::poll(within).unwrap_or(false)
}

pub fn has_input() -> bool {
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
        && fds[0].revents().contains(PollFlags::IN)
}

/// Makes the line editor notice unread input. The editor reads 1,024 bytes at a time and is notified of the rest only
/// when more arrives; setting the terminal's modes to their current values notifies it of all.
pub fn notice_input() {
    if has_input()
        && let Ok(modes) = tcgetattr(stdin())
    {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
    }
}
