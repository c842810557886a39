//! Output that may become longer than the screen: its first rows are shown after a short while, before it is known whether
//! a pager is needed. If one starts, they are taken off the screen again, because it shows them itself.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::screen_buffer::ScreenBuffer;

/// Faster output is shown once, and not taken off again.
const PATIENCE: Duration = Duration::from_millis(300);

/// Lines that this process wrote to stderr.
static STATUS_LINES: AtomicUsize = AtomicUsize::new(0);

/// Counts a line on stderr.
pub fn note_status_line() {
    STATUS_LINES.fetch_add(1, Ordering::Relaxed);
}

/// The rows, shared with the thread that shows the first of them.
pub struct EarlyRows {
    state: Arc<Mutex<RowState>>,
}

struct RowState {
    buffer: ScreenBuffer,
    /// Whether rows are shown as they come.
    is_live: bool,
    /// Whether they go elsewhere now.
    is_over: bool,
    /// The count of lines on stderr before the first row.
    status_lines: usize,
}

impl EarlyRows {
    /// Starts with an empty screen of this size.
    pub fn new(size: (usize, usize)) -> EarlyRows {
        let status_lines = STATUS_LINES.load(Ordering::Relaxed);
        let buffer = ScreenBuffer::new(size);
        let state = Arc::new(Mutex::new(RowState { buffer, is_live: false, is_over: false, status_lines }));
        let shared = state.clone();
        // Without the thread, rows are shown at the end.
        let _ = thread::Builder::new().spawn(move || {
            thread::sleep(PATIENCE);
            let mut state = locked(&shared);
            if !state.is_over {
                state.is_live = true;
                let _ = state.show();
            }
        });
        EarlyRows { state }
    }

    pub fn is_live(&self) -> bool {
        locked(&self.state).is_live
    }

    /// Adds bytes of whole characters; false once they need more than the screen.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let mut state = locked(&self.state);
        let fits = state.buffer.push(bytes);
        if fits && state.is_live {
            state.show()?;
        }
        Ok(fits)
    }

    /// Erases the shown rows, and returns all bytes for a pager.
    pub fn withdraw(self) -> io::Result<Vec<u8>> {
        let (buffer, is_alone) = self.end();
        match buffer.shown_rows() {
            // Not with a line of stderr below them, which would go too. Row by row, as a terminal may record a cleared screen.
            rows if is_alone => write_all("\x1b[A\x1b[2K".repeat(rows).as_bytes())?,
            _ => {}
        }
        Ok(buffer.into_bytes())
    }

    /// Returns what is not on the screen yet.
    pub fn into_rest(self) -> Vec<u8> {
        self.end().0.into_rest()
    }

    fn end(self) -> (ScreenBuffer, bool) {
        let mut state = locked(&self.state);
        state.is_over = true;
        let is_alone = state.status_lines == STATUS_LINES.load(Ordering::Relaxed);
        (std::mem::replace(&mut state.buffer, ScreenBuffer::new((0, 0))), is_alone)
    }
}

impl RowState {
    fn show(&mut self) -> io::Result<()> {
        write_all(&self.buffer.next_lines())
    }
}

fn locked(state: &Mutex<RowState>) -> MutexGuard<'_, RowState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = rustix::io::write(rustix::stdio::stdout(), bytes)?;
        bytes = bytes.get(count..).unwrap_or_default();
    }
    Ok(())
}
