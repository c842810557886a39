//! A server that is a program: started without lepo's keys in a process group of its own, its stderr
//! drained for ever and the end of it kept, and its whole tree ended with it.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::keeper::Keeper;
use crate::config::Secret;
use crate::tool::tree::Tree;

/// How much of the end of stderr is kept, in bytes.
const TAIL: usize = 8 << 10;

/// How long a server may take to end once its stdin is closed.
const GRACE: Duration = Duration::from_secs(2);

/// How long the end of stderr is waited for: who is still there may hold it open.
const DRAINED: Duration = Duration::from_millis(200);

/// Where programs are started, and what they do not inherit.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// Their working directory.
    pub dir: std::path::PathBuf,
    /// Variables that hold lepo's keys.
    pub hidden_env: Vec<String>,
    /// Who ends them, should lepo be killed.
    pub keeper: Option<Arc<Keeper>>,
}

/// A running server. Dropped, it is ended at once, with all that it started.
pub struct Process {
    child: Child,
    tail: Arc<Mutex<VecDeque<u8>>>,
    drain: Option<JoinHandle<()>>,
    tree: Tree,
}

impl Process {
    /// Starts `command`, and gives its stdout and stdin.
    pub fn start(
        command: &str,
        args: &[String],
        env: &[(String, Secret)],
        place: &Place,
    ) -> io::Result<(Process, ChildStdout, ChildStdin)> {
        let mut tree = Tree::of_server();
        let mut prepared = Command::new(command);
        prepared.args(args).process_group(0);
        if place.dir != Path::new("") {
            prepared.current_dir(&place.dir);
        }
        for name in &place.hidden_env {
            prepared.env_remove(name);
        }
        prepared.env(Tree::mark().0, Tree::mark().1);
        prepared.envs(env.iter().map(|(name, value)| (name, value.reveal())));
        prepared.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = prepared.spawn()?;
        tree.grown_from(child.id());
        if let Some(keeper) = &place.keeper {
            keeper.watch(child.id());
        }
        let tail = Arc::default();
        let drain = child.stderr.take().map(|stderr| tokio::spawn(drain(stderr, Arc::clone(&tail))));
        let pipes = child.stdout.take().zip(child.stdin.take());
        let (stdout, stdin) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        Ok((Process { child, tail, drain, tree }, stdout, stdin))
    }

    /// How it ended, if it does so within `limit`.
    pub async fn ended(&mut self, limit: Duration) -> Option<ExitStatus> {
        tokio::time::timeout(limit, self.child.wait()).await.ok()?.ok()
    }

    /// The end of what it said on stderr, all of it if it has ended.
    pub async fn last_words(&mut self) -> String {
        if let Some(drain) = &mut self.drain
            && tokio::time::timeout(DRAINED, drain).await.is_ok()
        {
            self.drain = None;
        }
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: &[u8] = tail.make_contiguous();
        String::from_utf8_lossy(bytes).trim().to_string()
    }

    /// Ends it: its stdin is closed by now, so most end by themselves; the tree of the others is swept.
    pub async fn end(mut self) {
        self.ended(GRACE).await;
        // Ending a tree may block for a second.
        let _ = tokio::task::spawn_blocking(move || drop(self.tree)).await;
    }
}

/// Reads to the end, and keeps the end.
async fn drain(mut from: impl AsyncRead + Unpin, tail: Arc<Mutex<VecDeque<u8>>>) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(n @ 1..) = from.read(&mut buffer).await {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(buffer.iter().take(n));
        let excess = tail.len().saturating_sub(TAIL);
        tail.drain(..excess);
    }
}
