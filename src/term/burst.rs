//! Input that comes at once without the marks of a paste: typed by another program, or pasted where the terminal has none.

use std::time::Duration;

use ratatui::crossterm::event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// True if more of the terminal's input comes within this time.
pub fn input_goes_on(within: Duration) -> bool {
    has_input() || event::poll(within).unwrap_or(false)
}

/// True if the terminal holds input that nobody has read.
pub fn has_input() -> bool {
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
        && fds[0].revents().contains(PollFlags::IN)
}

/// Lets the line editor notice input that the terminal holds. It reads 1,024 bytes at a time, and is told of the others
/// only when more comes; a terminal whose modes are set, to what they are, tells it of all.
pub fn notice_input() {
    if has_input()
        && let Ok(modes) = tcgetattr(stdin())
    {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
    }
}
