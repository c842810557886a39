//! A `git fast-import`, started with the first change.

use std::io::{self, BufWriter, Write};
use std::process::{Child, ChildStdin};
use std::thread::JoinHandle;

use super::cat_file::Oid;
use super::git::Git;
use super::git_process::{failed, read_end};
use lepo_base::error::{Error, Result};

/// The subject of a commit that starts a new part, pushed after the previous part has arrived.
pub const PART: &str = "next part";

/// Writes consecutive commits on a ref. Dropping it before the end leaves the ref unchanged.
pub struct FastImport<'g> {
    git: &'g Git,
    name: String,
    committer: String,
    tip: Option<String>,
    running: Option<FastImportProcess>,
    /// Whether the next change starts a new commit.
    is_at_part: bool,
    commits: usize,
}

/// The commits written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitResult {
    pub last: Oid,
    pub commits: usize,
}

struct FastImportProcess {
    child: Child,
    to: BufWriter<ChildStdin>,
    errors: Option<JoinHandle<String>>,
    output: Option<JoinHandle<String>>,
}

impl<'g> FastImport<'g> {
    /// Prepares commits on the ref `name`, which is at `tip`, with the name of `clone` and this email and time.
    pub fn new(
        git: &'g Git,
        name: String,
        clone: &str,
        (email, now): (&str, u64),
        tip: Option<&str>,
    ) -> FastImport<'g> {
        let committer = format!("{clone} <{}> {} +0000", email.replace(['<', '>', '\n'], ""), now / 1000);
        let tip = tip.map(str::to_string);
        FastImport { git, name, committer, tip, running: None, is_at_part: false, commits: 0 }
    }

    /// Starts the commit even if it has no change.
    pub fn start_commit(&mut self) -> Result<()> {
        self.to().map(|_| ())
    }

    /// Adds or replaces a file.
    pub fn file(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        let to = self.to()?;
        let mut write = || {
            writeln!(to, "M 100644 inline {}\ndata {}", quoted(path), bytes.len())?;
            to.write_all(bytes)?;
            to.write_all(b"\n")
        };
        write().map_err(cannot_write)
    }

    pub fn delete(&mut self, path: &str) -> Result<()> {
        writeln!(self.to()?, "D {}", quoted(path)).map_err(cannot_write)
    }

    /// Ends the commit: later changes go into a new one.
    pub fn end_part(&mut self) {
        self.is_at_part = self.running.is_some();
    }

    /// Ends the last commit and waits until the ref is set; `None` if no commit was started.
    pub fn finish(mut self) -> Result<Option<CommitResult>> {
        let Some(mut running) = self.running.take() else { return Ok(None) };
        let written = writeln!(running.to, "\nget-mark :{}\ndone", self.commits);
        let written = written.and_then(|()| running.to.flush());
        drop(running.to);
        let status = running.child.wait();
        let status = status.map_err(|error| Error::remote("cannot wait for git").because(error))?;
        let output_of = |thread: Option<JoinHandle<String>>| thread.map(|t| t.join().unwrap_or_default());
        let words = output_of(running.errors.take()).unwrap_or_default();
        let last = output_of(running.output.take()).unwrap_or_default().trim().to_string();
        if !status.success() {
            return Err(failed(&words));
        }
        written.map_err(cannot_write)?;
        match last.bytes().all(|byte| byte.is_ascii_hexdigit()) && !last.is_empty() {
            true => Ok(Some(CommitResult { last, commits: self.commits })),
            false => Err(Error::remote("git did not report its commit")),
        }
    }

    /// Returns the program's stdin within a commit, starting the program or the commit if necessary.
    fn to(&mut self) -> Result<&mut BufWriter<ChildStdin>> {
        let is_first = self.running.is_none();
        let running = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let running = self.running.insert(running);
        if is_first || self.is_at_part {
            let subject = if is_first { "sync" } else { PART };
            self.commits += 1;
            let (name, committer, mark) = (&self.name, &self.committer, self.commits);
            let mut begin = || {
                writeln!(running.to, "commit {name}\nmark :{mark}\ncommitter {committer}")?;
                writeln!(running.to, "data {}\n{subject}", subject.len())?;
                match &self.tip {
                    Some(tip) if is_first => writeln!(running.to, "from {tip}"),
                    _ => Ok(()),
                }
            };
            begin().map_err(cannot_write)?;
            self.is_at_part = false;
        }
        Ok(&mut running.to)
    }

    fn start(&self) -> Result<FastImportProcess> {
        // Without `--force`: a ref that is not at the tip, which only the user can have changed, stays unchanged.
        let mut child = self.git.start(["fast-import", "--quiet", "--done", "--date-format=raw"])?;
        let (errors, output) = (child.stderr.take().map(read_end), child.stdout.take().map(read_end));
        let Some(to) = child.stdin.take() else { return Err(Error::remote("git has no stdin")) };
        Ok(FastImportProcess { child, to: BufWriter::with_capacity(256 << 10, to), errors, output })
    }
}

impl Drop for FastImport<'_> {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }
}

fn cannot_write(error: io::Error) -> Error {
    Error::remote("cannot write to git").because(error)
}

/// Quotes a path for fast-import, whatever characters it contains.
fn quoted(path: &str) -> String {
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}
