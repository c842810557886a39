//! Typed text that a terminal does not show: a key.

use std::fs::File;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// A terminal that does not show what is typed; dropped, it is as it was.
pub struct Hidden {
    tty: File,
    was: Option<LocalModes>,
}

impl Hidden {
    /// Turns the echo off; the end of a line is still one.
    pub fn begin(tty: File) -> Hidden {
        let was = tcgetattr(&tty).ok().map(|modes| modes.local_modes);
        if let Some(was) = was {
            switch(&tty, was - LocalModes::ECHO);
        }
        Hidden { tty, was }
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(was) = self.was {
            switch(&self.tty, was);
        }
    }
}

fn switch(tty: &File, local_modes: LocalModes) {
    if let Ok(mut modes) = tcgetattr(tty) {
        modes.local_modes = local_modes;
        let _ = tcsetattr(tty, OptionalActions::Now, &modes);
    }
}
