//! Turns off the terminal's echo: for an API key, or while live rows are drawn.

use std::fs::File;

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};

/// Restores the modes on drop.
pub struct EchoOff {
    tty: File,
    was: Option<LocalModes>,
}

impl EchoOff {
    /// Turns off the echo; line editing stays on.
    pub fn new(tty: File) -> EchoOff {
        let was = tcgetattr(&tty).ok().map(|modes| modes.local_modes);
        if let Some(was) = was {
            switch(&tty, was - LocalModes::ECHO);
        }
        EchoOff { tty, was }
    }

    /// Turns off the echo again if the shell turned it on while the job was stopped.
    pub fn reapply(&self) {
        if let (Some(was), Ok(modes)) = (self.was, tcgetattr(&self.tty))
            && modes.local_modes.contains(LocalModes::ECHO)
        {
            switch(&self.tty, was - LocalModes::ECHO);
        }
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        if let Some(was) = self.was {
            switch(&self.tty, was);
        }
    }
}

/// Does nothing in the background, where changing the modes would stop the job.
fn switch(tty: &File, local_modes: LocalModes) {
    if !tcgetpgrp(tty).is_ok_and(|group| group == getpgrp()) {
        return;
    }
    if let Ok(mut modes) = tcgetattr(tty) {
        modes.local_modes = local_modes;
        let _ = tcsetattr(tty, OptionalActions::Now, &modes);
    }
}
