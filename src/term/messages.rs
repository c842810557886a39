//! Writes lines of messages to stdout from a separate thread, so that a slow reader delays nothing else.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use lepo_base::error::{Error, Result};

const BATCH: usize = 64 << 10;

/// Longest line that a pipe accepts in one write once it is writable.
const ATOMIC: usize = 4096;

pub struct MessageWriter {
    lines: Sender<Vec<u8>>,
    unwritten: Arc<AtomicUsize>,
    /// Disconnects when the thread has ended.
    ended: Receiver<()>,
}

impl MessageWriter {
    /// Starts the thread; `gone` is called when the reader has closed the pipe.
    pub fn start(gone: impl FnOnce() + Send + 'static) -> Result<MessageWriter> {
        let (lines, written) = channel::<Vec<u8>>();
        let (leaves, left) = channel::<()>();
        let unwritten = Arc::<AtomicUsize>::default();
        let counted = unwritten.clone();
        let work = move || {
            let _leaves: Sender<()> = leaves;
            if write_all(&written, &counted).is_err() {
                gone();
            }
        };
        thread::Builder::new()
            .name("messages".into())
            .spawn(work)
            .map_err(|error| Error::store("cannot start a thread").because(error))?;
        Ok(MessageWriter { lines, unwritten, ended: left })
    }

    /// Queues a line. Reports no error if the reader is gone.
    pub fn line(&self, text: String) {
        let mut line = text.into_bytes();
        line.push(b'\n');
        // Written directly if the queue is empty and the write does not block: waking the thread costs more.
        let stdout = rustix::stdio::stdout();
        if line.len() <= ATOMIC
            && self.unwritten.load(Ordering::Acquire) == 0
            && has_room(stdout, Duration::ZERO)
        {
            match rustix::io::write(stdout, &line) {
                Ok(n) if n == line.len() => return,
                Ok(n) => drop(line.drain(..n)),
                // The thread meets and reports the same error.
                Err(_) => {}
            }
        }
        self.unwritten.fetch_add(1, Ordering::AcqRel);
        // Fails only if the thread has ended because the reader is gone.
        let _ = self.lines.send(line);
    }

    /// Waits until everything is written, or for `patience`.
    pub fn finish(self, patience: Duration) {
        let MessageWriter { lines, ended: left, .. } = self;
        drop(lines);
        let _ = left.recv_timeout(patience);
    }

    /// Whether fewer than `few` lines are queued.
    pub fn has_few_waiting(&self, few: usize) -> bool {
        self.unwritten.load(Ordering::Acquire) < few
    }
}

/// Whether a short line can be written without blocking, after at most `wait`.
fn has_room(fd: BorrowedFd<'_>, wait: Duration) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    let wait = Timespec::try_from(wait).ok();
    poll(&mut fds, wait.as_ref()).is_ok_and(|ready| ready > 0) && fds[0].revents() == PollFlags::OUT
}

fn write_all(lines: &Receiver<Vec<u8>>, unwritten: &AtomicUsize) -> io::Result<()> {
    while let Ok(mut batch) = lines.recv() {
        let mut count = 1;
        while batch.len() < BATCH
            && let Ok(more) = lines.try_recv()
        {
            batch.extend_from_slice(&more);
            count += 1;
        }
        write(&batch)?;
        unwritten.fetch_sub(count, Ordering::AcqRel);
    }
    Ok(())
}

/// Writes everything, also if the reader made the pipe non-blocking.
fn write(mut bytes: &[u8]) -> io::Result<()> {
    let stdout = rustix::stdio::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(stdout, bytes) {
            Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let begun = Instant::now();
                has_room(stdout, Duration::from_secs(1));
                // A closed pipe polls as ready at once; the write then returns the error.
                if begun.elapsed().is_zero() {
                    thread::yield_now();
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
