//! What ends the servers when lepo is killed and can end nothing any more: a shell at the other end
//! of a pipe, which closes with lepo however that ends. What went into a session of its own escapes it.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::tool::SHELL;
use crate::tool::tree::Tree;

/// Collects process groups until its stdin ends, and then ends them. Told that all is well, it is ended itself.
const SCRIPT: &str = "while read -r group; do groups=\"$groups -$group\"; done
[ -n \"$groups\" ] || exit
kill -TERM $groups 2>/dev/null
sleep 1
kill -KILL $groups 2>/dev/null";

/// The shell. It is marked like the servers, and ended with what they leave behind.
#[derive(Debug)]
pub struct Keeper(Mutex<ChildStdin>);

impl Keeper {
    /// Starts it; a system without a shell has none.
    pub fn start() -> Option<Keeper> {
        let mut command = Command::new(SHELL);
        command.args(["-c", SCRIPT]).process_group(0).env_clear().env(Tree::mark().0, Tree::mark().1);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        child.stdin.take().map(|stdin| Keeper(Mutex::new(stdin)))
    }

    /// Tells it of a process that leads a group.
    pub fn watch(&self, leader: Option<u32>) {
        if let Some(leader) = leader {
            let mut stdin = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = writeln!(stdin, "{leader}");
        }
    }
}
