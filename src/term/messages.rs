//! Lines of messages on stdout, written by a thread of their own: a reader that does not read holds up nothing else.

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

/// Bytes that are written at once.
const BATCH: usize = 64 << 10;

/// The longest line that a pipe takes whole once it says that it has room.
const ATOMIC: usize = 4096;

/// stdout, for messages alone.
pub struct Messages {
    lines: Sender<Vec<u8>>,
    /// Lines that were given to the thread and are not written yet.
    unwritten: Arc<AtomicUsize>,
    /// Closes when the thread has ended.
    left: Receiver<()>,
}

impl Messages {
    /// Begins to write; `gone` is called when the reader is.
    pub fn begin(gone: impl FnOnce() + Send + 'static) -> Result<Messages> {
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
        Ok(Messages { lines, unwritten, left })
    }

    /// Writes a line. Nothing is said of a reader that is gone.
    pub fn line(&self, text: String) {
        let mut line = text.into_bytes();
        line.push(b'\n');
        // At once, if nothing waits and it does not block: a thread that wakes costs more than the write.
        let stdout = rustix::stdio::stdout();
        if line.len() <= ATOMIC
            && self.unwritten.load(Ordering::Acquire) == 0
            && has_room(stdout, Duration::ZERO)
        {
            match rustix::io::write(stdout, &line) {
                Ok(n) if n == line.len() => return,
                Ok(n) => drop(line.drain(..n)),
                // The thread meets the same error, and says it.
                Err(_) => {}
            }
        }
        self.unwritten.fetch_add(1, Ordering::AcqRel);
        // Its thread has ended if the reader is gone.
        let _ = self.lines.send(line);
    }

    /// Waits until all is written, or the time is over.
    pub fn end(self, patience: Duration) {
        let Messages { lines, left, .. } = self;
        drop(lines);
        let _ = left.recv_timeout(patience);
    }

    /// True if less than so many lines wait to be written.
    pub fn has_few_waiting(&self, few: usize) -> bool {
        self.unwritten.load(Ordering::Acquire) < few
    }
}

/// True if a write of a short line does not block, by then.
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

/// Writes all of it, also where the other side made the pipe one that does not block.
fn write(mut bytes: &[u8]) -> io::Result<()> {
    let stdout = rustix::stdio::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(stdout, bytes) {
            Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let begun = Instant::now();
                has_room(stdout, Duration::from_secs(1));
                // A pipe that is closed is ready at once, and the write says so.
                if begun.elapsed().is_zero() {
                    thread::yield_now();
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
