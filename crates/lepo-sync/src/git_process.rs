//! A running git: reads its output in parts or as a whole, and checks how it ends.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use lepo_base::error::{Error, Result};

/// Maximum number of bytes read of git's output, where others control its size.
pub const MOST: u64 = 256 << 20;

pub fn cannot_start(error: io::Error) -> Error {
    Error::usage("cannot run git").because(error).hint("`lepo sync` needs the program git in PATH")
}

/// A running call of git. Dropping it before the end kills git.
pub struct GitProcess {
    child: Child,
    errors: Option<JoinHandle<String>>,
}

impl GitProcess {
    pub fn start(mut command: Command) -> Result<GitProcess> {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(cannot_start)?;
        let errors = child.stderr.take().map(read_end);
        Ok(GitProcess { child, errors })
    }

    /// Waits for the end and returns the output.
    pub fn printed(mut self) -> Result<Vec<u8>> {
        let mut printed = Vec::new();
        let read = self.child.stdout.take().map_or(Ok(0), |out| out.take(MOST).read_to_end(&mut printed));
        self.finish(read.map(|_| ()))?;
        Ok(printed)
    }

    /// Calls `each` with every part of the output as it arrives, without the byte `end`, and waits for the end. More
    /// than `most` bytes are an error.
    pub fn each(mut self, end: u8, most: u64, mut each: impl FnMut(&[u8])) -> Result<()> {
        let Some(out) = self.child.stdout.take() else { return self.finish(Ok(())) };
        let mut from = BufReader::with_capacity(256 << 10, out.take(most.saturating_add(1)));
        let (mut part, mut total) = (Vec::new(), 0);
        loop {
            part.clear();
            match from.read_until(end, &mut part) {
                Ok(0) => break,
                Ok(read) => total += read as u64,
                Err(error) => {
                    drop(from);
                    return self.finish(Err(error));
                }
            }
            if total > most {
                return Err(Error::remote(format!("git lists more than {} MiB", most >> 20)));
            }
            each(part.strip_suffix(&[end]).unwrap_or(&part));
        }
        drop(from);
        self.finish(Ok(()))
    }

    fn finish(mut self, read: io::Result<()>) -> Result<()> {
        let status = self.child.wait();
        let words = self.errors.take().map(|thread| thread.join().unwrap_or_default()).unwrap_or_default();
        match (read, status) {
            (Ok(()), Ok(status)) if status.success() => Ok(()),
            (Err(error), _) | (_, Err(error)) => Err(Error::remote("cannot read from git").because(error)),
            _ => Err(failed(&words)),
        }
    }
}

impl Drop for GitProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Collects the end of git's stderr in a thread, so that a flood of messages cannot block git.
pub fn read_end(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    const KEPT: usize = 4 << 10;
    std::thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            kept.extend(&buffer[..n]);
            let over = kept.len().saturating_sub(KEPT);
            kept.drain(..over);
        }
        String::from_utf8_lossy(&kept).into_owned()
    })
}

/// Creates the error for a failed git call from its stderr. A URL's user part is masked.
pub fn failed(text: &str) -> Error {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let reasons: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| {
            line.starts_with("fatal:")
                || line.starts_with("error:")
                || line.starts_with(" !")
                || line.contains("rejected")
        })
        .collect();
    // A hook of the remote reports its reason on separate lines.
    let is_rejected = text.contains("[remote rejected]");
    let remote = lines.iter().copied().filter(|line| is_rejected && line.starts_with("remote: ")).take(3);
    let reasons: Vec<&str> = remote.chain(reasons).collect();
    let shown =
        if reasons.is_empty() { lines.last().map(|line| vec![*line]).unwrap_or_default() } else { reasons };
    let shown = shown.into_iter().take(if is_rejected { 6 } else { 3 }).collect::<Vec<_>>().join("; ");
    Error::remote(format!("git failed: {}", without_password(&shown)))
}

/// Masks the user part of every URL in a text.
fn without_password(text: &str) -> String {
    let mut masked = String::new();
    for word in text.split_inclusive([' ', '\'', '"']) {
        match (word.find("://"), word.find('@')) {
            (Some(scheme), Some(at)) if scheme + 3 < at => {
                masked.push_str(word.get(..scheme + 3).unwrap_or_default());
                masked.push_str("***");
                masked.push_str(word.get(at..).unwrap_or_default());
            }
            _ => masked.push_str(word),
        }
    }
    masked
}

/// Writes to a child's stdin and waits for its end; its stdout is dropped.
pub fn feed(mut child: Child, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let errors = child.stderr.take().map(read_end);
    let out = child.stdout.take().map(read_end);
    let written = match child.stdin.take() {
        Some(stdin) => {
            let mut stdin = io::BufWriter::with_capacity(256 << 10, stdin);
            write(&mut stdin).and_then(|()| stdin.flush())
        }
        None => Ok(()),
    };
    let status = child.wait().map_err(|error| Error::remote("cannot wait for git").because(error))?;
    let words = errors.map(|thread| thread.join().unwrap_or_default()).unwrap_or_default();
    drop(out.map(JoinHandle::join));
    if !status.success() {
        return Err(failed(&words));
    }
    written.map_err(|error| Error::remote("cannot write to git").because(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_tell_the_line_that_matters_and_no_password() {
        for (words, expected) in [
            (
                "hint: x\nfatal: repository 'https://me:secret@host/x' not found\n",
                "git failed: fatal: repository 'https://***@host/x' not found",
            ),
            (
                "remote: quota exceeded   \nTo x\n ! [remote rejected] a -> b (hook declined)\nerror: failed\n",
                "git failed: remote: quota exceeded; ! [remote rejected] a -> b (hook declined); error: failed",
            ),
            ("remote: 3 objects\nfatal: x\n", "git failed: fatal: x"),
            ("just this", "git failed: just this"),
            ("", "git failed: "),
        ] {
            assert_eq!(failed(words).message, expected);
        }
    }
}
