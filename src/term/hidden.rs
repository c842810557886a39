//! Typed text that a terminal does not show: a key, or what is typed while rows are drawn.

use std::fs::File;

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};

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

    /// Turns the echo off again, where a job that was stopped found it on when it went on.
    pub fn keep(&self) {
        if let (Some(was), Ok(modes)) = (self.was, tcgetattr(&self.tty))
            && modes.local_modes.contains(LocalModes::ECHO)
        {
            switch(&self.tty, was - LocalModes::ECHO);
        }
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(was) = self.was {
            switch(&self.tty, was);
        }
    }
}

/// In the background it would stop the job.
fn switch(tty: &File, local_modes: LocalModes) {
    if !tcgetpgrp(tty).is_ok_and(|group| group == getpgrp()) {
        return;
    }
    if let Ok(mut modes) = tcgetattr(tty) {
        modes.local_modes = local_modes;
        let _ = tcsetattr(tty, OptionalActions::Now, &modes);
    }
}
