//! Buffers text that the user types or pastes while no prompt reads it: neither echoed nor cut, and passed to the
//! next prompt. Without one, the shell gets it.
//!
//! Otherwise the terminal would buffer one line of at most 4,095 bytes, echo it into the answer and drop it
//! on Ctrl+C; and a paste would become several separate lines.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};

use super::typed::has_open_paste;

const BRACKETS_ON: &[u8] = b"\x1b[?2004h";
const BRACKETS_OFF: &[u8] = b"\x1b[?2004l";

/// Interval at which the thread checks whether to end.
const STEP: Duration = Duration::from_millis(20);

/// Limits the wait for the rest of a paste.
const PASTED_BY_THEN: Duration = Duration::from_secs(2);

/// The active buffer, for questions that need the terminal in the meantime.
static AT_WORK: Mutex<Option<Arc<TypeAheadBuffer>>> = Mutex::new(None);

/// Buffers typed text; restores the terminal on drop.
pub struct TypeAhead {
    keeper: Arc<TypeAheadBuffer>,
    thread: Option<JoinHandle<()>>,
}

struct TypeAheadBuffer {
    tty: File,
    /// Reads typed text. If false, only hides it and leaves it in the terminal for the next program.
    reads: bool,
    was: Termios,
    input: Mutex<BufferedInput>,
    has_ended: AtomicBool,
}

#[derive(Default)]
struct BufferedInput {
    bytes: Vec<u8>,
    paused: bool,
}

impl TypeAhead {
    /// Starts buffering; `None` without a terminal.
    pub fn start() -> Option<TypeAhead> {
        TypeAhead::new(TypeAheadBuffer::grab(true)?)
    }

    /// Hides typed input but leaves it to the shell; `None` without a terminal, or if another job owns it.
    pub fn hide() -> Option<TypeAhead> {
        TypeAhead::new(TypeAheadBuffer::grab(false)?)
    }

    fn new(keeper: Arc<TypeAheadBuffer>) -> Option<TypeAhead> {
        let working = keeper.clone();
        let thread = std::thread::Builder::new().spawn(move || working.work()).ok();
        *locked(&AT_WORK) = Some(keeper.clone());
        Some(TypeAhead { keeper, thread })
    }

    /// Reads the bytes that are in the terminal's buffer now.
    pub fn buffered() -> Vec<u8> {
        TypeAheadBuffer::grab(true)
            .map(|keeper| TypeAhead { keeper, thread: None }.finish())
            .unwrap_or_default()
    }

    /// Ends buffering and returns the typed bytes; waits for the rest of a paste that has started.
    pub fn finish(self) -> Vec<u8> {
        let _ = self.keeper.grab_terminal();
        let begun = Instant::now();
        let mut kept = self.keeper.buffer();
        loop {
            let more = self.keeper.read(&mut kept);
            if more {
                continue;
            }
            let is_pasting = has_open_paste(&kept.bytes) && begun.elapsed() < PASTED_BY_THEN;
            if !is_pasting {
                break;
            }
            let _ = ready(&self.keeper.tty, STEP);
        }
        std::mem::take(&mut kept.bytes)
    }
}

impl Drop for TypeAhead {
    fn drop(&mut self) {
        self.keeper.has_ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        *locked(&AT_WORK) = None;
        self.keeper.give_back();
    }
}

impl TypeAheadBuffer {
    fn grab(reads: bool) -> Option<Arc<TypeAheadBuffer>> {
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        let was = tcgetattr(&tty).ok()?;
        let keeper =
            TypeAheadBuffer { tty, reads, was, input: Mutex::default(), has_ended: AtomicBool::new(false) };
        // In the background, changing the modes would stop the job.
        if !reads && !keeper.is_ours() {
            return None;
        }
        keeper.grab_terminal().ok()?;
        Some(Arc::new(keeper))
    }

    fn buffer(&self) -> MutexGuard<'_, BufferedInput> {
        locked(&self.input)
    }

    /// Turns off echo and line mode. Ctrl+C remains a signal, and flushes no typed text.
    fn grab_terminal(&self) -> io::Result<()> {
        let mut modes = self.was.clone();
        if !self.reads {
            modes.local_modes.remove(LocalModes::ECHO);
            return Ok(tcsetattr(&self.tty, OptionalActions::Now, &modes)?);
        }
        modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        modes.local_modes.insert(LocalModes::ISIG | LocalModes::NOFLSH);
        // Makes a read return what is available, without waiting.
        modes.special_codes[SpecialCodeIndex::VMIN] = 0;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&self.tty, OptionalActions::Now, &modes)?;
        (&self.tty).write_all(BRACKETS_ON)
    }

    fn give_back(&self) {
        if !self.reads && !self.is_ours() {
            return;
        }
        let _ = tcsetattr(&self.tty, OptionalActions::Now, &self.was);
        if self.reads {
            let _ = (&self.tty).write_all(BRACKETS_OFF);
        }
    }

    /// Reads typed text continuously, so that the terminal's small buffer never fills: a Ctrl+C after that
    /// would not be noticed.
    fn work(&self) {
        while !self.has_ended.load(Ordering::Relaxed) {
            let is_ready = ready(&self.tty, STEP);
            let mut kept = self.buffer();
            if !kept.paused && self.is_lost() {
                let _ = self.grab_terminal();
            }
            if !is_ready {
                continue;
            }
            let has_read = !kept.paused && self.read(&mut kept);
            drop(kept);
            if !has_read {
                std::thread::sleep(STEP);
            }
        }
    }

    /// Whether the echo is on again: a shell had the terminal while the job was stopped.
    fn is_lost(&self) -> bool {
        let echoes = tcgetattr(&self.tty).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ECHO));
        echoes && self.is_ours()
    }

    /// Whether lepo is in the foreground; elsewhere, reading or changing the terminal would stop the whole
    /// job.
    fn is_ours(&self) -> bool {
        tcgetpgrp(&self.tty).is_ok_and(|group| group == getpgrp())
    }

    /// Reads what is available; returns whether it was anything.
    fn read(&self, kept: &mut BufferedInput) -> bool {
        let is_ours = self.reads && self.is_ours();
        let mut bytes = [0; 4096];
        let read =
            if is_ours && ready(&self.tty, Duration::ZERO) { (&self.tty).read(&mut bytes) } else { Ok(0) };
        let read = read.unwrap_or_default();
        kept.bytes.extend_from_slice(bytes.get(..read).unwrap_or_default());
        read > 0
    }
}

/// Lends the terminal to a question: it edits and echoes lines as usual, and earlier input stays buffered for
/// the prompt. Does nothing without an active buffer.
pub struct TypeAheadPause {
    keeper: Option<Arc<TypeAheadBuffer>>,
}

impl TypeAheadPause {
    pub fn pause() -> TypeAheadPause {
        let keeper = locked(&AT_WORK).clone();
        if let Some(keeper) = &keeper {
            let mut kept = keeper.buffer();
            while keeper.read(&mut kept) {}
            kept.paused = true;
            keeper.give_back();
        }
        TypeAheadPause { keeper }
    }
}

impl Drop for TypeAheadPause {
    fn drop(&mut self) {
        if let Some(keeper) = &self.keeper {
            let _ = keeper.grab_terminal();
            keeper.buffer().paused = false;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ready(tty: &File, within: Duration) -> bool {
    let mut fds = [PollFd::new(tty, PollFlags::IN)];
    let within = Timespec { tv_sec: 0, tv_nsec: i64::from(within.subsec_nanos()) };
    rustix::event::poll(&mut fds, Some(&within)).is_ok_and(|count| count > 0)
        && fds[0].revents().contains(PollFlags::IN)
}
