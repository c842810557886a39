//! Ending a command when lepo is killed and can end nothing itself: a shell outside of any sandbox waits
//! at a pipe whose other end only lepo holds. bubblewrap does the same for what it holds.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::SHELL;

/// The group's number comes first; a second line means that all is well.
const WAIT: &str = "trap '' TERM HUP INT; read -r group && ! read -r well && kill -s KILL -- \"-$group\"";

/// Watches over one command, until it is dropped.
pub struct Guard(Child);

impl Guard {
    /// Starts the shell.
    pub fn begin() -> io::Result<Guard> {
        let mut shell = Command::new(SHELL);
        shell.args(["-c", WAIT]).env_clear().current_dir("/").process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Guard(shell.spawn()?))
    }

    /// Names the process whose group is to go with lepo.
    pub fn watch(&mut self, leader: Option<u32>) -> io::Result<()> {
        match (&mut self.0.stdin, leader) {
            (Some(pipe), Some(leader)) => writeln!(pipe, "{leader}"),
            _ => Ok(()),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            let _ = pipe.write_all(b"well\n");
        }
        let _ = self.0.wait();
    }
}
