//! Switches the terminal's echo of typed text: off while an answer is being printed, where it would stand
//! in the middle of it.

use std::fs::{File, OpenOptions};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// The terminal shows what is typed, or not; dropped, it is as it was.
pub struct Echo {
    tty: File,
    was: bool,
}

impl Echo {
    /// Turns it on or off; `None` where there is no terminal.
    pub fn set(on: bool) -> Option<Echo> {
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        let was = switch(&tty, on)?;
        Some(Echo { tty, was })
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        switch(&self.tty, self.was);
    }
}

/// Changes that one mode and no other, and tells what it was.
fn switch(tty: &File, on: bool) -> Option<bool> {
    let mut modes = tcgetattr(tty).ok()?;
    let was = modes.local_modes.contains(LocalModes::ECHO);
    if was != on {
        modes.local_modes.set(LocalModes::ECHO, on);
        tcsetattr(tty, OptionalActions::Now, &modes).ok()?;
    }
    Some(was)
}
