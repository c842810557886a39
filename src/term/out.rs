//! Writes stdout (data) and stderr (talk). A closed pipe is a quiet end; every other failure is an error.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::line::Line;
use super::pager::{self, Pager};
use super::terminal::size_of;
use super::{Cleaner, Paint, clean, fold};
use lepo_base::error::{Error, Result};

/// stdout: cleaned on a terminal, the bytes as they are elsewhere.
pub struct Out {
    to: BufWriter<Sink>,
    cleaner: Option<Cleaner>,
    closed: bool,
    used: bool,
    failed: Option<io::Error>,
    /// The last byte was a newline, or there was none yet.
    at_line_start: bool,
}

impl Out {
    /// The process's stdout.
    pub fn stdout() -> Out {
        let cleaner = io::stdout().is_terminal().then(Cleaner::default);
        let to = BufWriter::with_capacity(32 << 10, Sink::Stdout);
        Out { to, cleaner, closed: false, used: false, failed: None, at_line_start: true }
    }

    /// True if stdout is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.cleaner.is_some()
    }

    /// The number of columns of the terminal; none if it is no terminal, or does not say.
    pub fn columns(&self) -> Option<usize> {
        self.cleaner.as_ref().and_then(|_| size_of(rustix::stdio::stdout())).map(|(columns, _)| columns)
    }

    /// True if the reader is gone: a command may stop.
    pub fn closed(&self) -> bool {
        self.closed
    }

    /// Nothing was written yet.
    pub fn is_unused(&self) -> bool {
        !self.used
    }

    /// True if the current line is empty.
    pub fn at_line_start(&self) -> bool {
        self.at_line_start
    }

    /// Writes bytes that lepo did not make (of a bubb, a model, a file name), cleaned on a terminal.
    pub fn untrusted(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.at_line_start = *last == b'\n';
        }
        match &mut self.cleaner {
            None => self.put(bytes),
            Some(cleaner) => {
                let mut shown = String::with_capacity(bytes.len());
                cleaner.push(bytes, &mut shown);
                self.put(shown.as_bytes());
            }
        }
    }

    /// Writes lepo's own text as it is: a newline, a label, an escape sequence.
    pub fn trusted(&mut self, text: &str) {
        if let Some(last) = text.as_bytes().last() {
            self.at_line_start = *last == b'\n';
        }
        if let Some(cleaner) = &mut self.cleaner {
            let mut rest = String::new();
            cleaner.finish(&mut rest);
            self.put(rest.as_bytes());
        }
        self.put(text.as_bytes());
    }

    /// Writes one line of data.
    pub fn line(&mut self, text: &str) {
        self.untrusted(text.as_bytes());
        self.trusted("\n");
    }

    /// Writes a path as a line: its bytes, which may be no text, as they are where this is no terminal.
    pub fn path(&mut self, path: &Path) {
        self.untrusted(path.as_os_str().as_bytes());
        self.trusted("\n");
    }

    /// Flushes after the 1st, 2nd, 4th, 8th … row: a list begins to show before all of it is made, and
    /// `| head` ends it early.
    pub fn row_done(&mut self, i: usize) {
        if (i + 1).is_power_of_two() {
            self.flush();
        }
    }

    /// Writes out what is buffered.
    pub fn flush(&mut self) {
        if !self.closed && self.failed.is_none() {
            let flushed = self.to.flush();
            self.note(flushed);
        }
    }

    /// Shows the output from here on a screen at a time, if stdout is a terminal and a pager can be started.
    pub fn page(&mut self) {
        if self.is_terminal()
            && self.is_unused()
            && let Some(pager) = pager::start_chosen()
        {
            self.to = BufWriter::with_capacity(32 << 10, Sink::Pager(pager));
        }
    }

    /// Waits until the pager is left, if there is one.
    fn leave_pager(&mut self) {
        self.flush();
        self.to = BufWriter::with_capacity(0, Sink::Stdout);
    }

    /// The end of the output: tells a failure (a full disk behind `>`), but not a closed pipe.
    pub fn finish(&mut self) -> Result<()> {
        self.leave_pager();
        match self.failed.take() {
            Some(error) => {
                self.closed = true;
                Err(Error::store("cannot write the output").because(error))
            }
            None => Ok(()),
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.used |= !bytes.is_empty();
        if !self.closed && self.failed.is_none() {
            let put = self.to.write_all(bytes);
            self.note(put);
        }
    }

    fn note(&mut self, result: io::Result<()>) {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.closed = true,
            Err(error) => self.failed = Some(error),
            Ok(()) => {}
        }
    }
}

/// The destination of the bytes.
enum Sink {
    /// Descriptor 1 itself: std's `Stdout` would search every write for its last newline.
    Stdout,
    /// A pager on the terminal.
    Pager(Pager),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout => Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?),
            Sink::Pager(pager) => pager.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.untrusted(bytes);
        if self.closed { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Out::flush(self);
        Ok(())
    }
}

/// A line about the work, faint.
pub fn say_dim(text: &str, paint: Paint) {
    let mut stderr = io::stderr().lock();
    let columns = size_of(&stderr).map(|(columns, _)| columns);
    let shown = match columns {
        Some(columns) => paint.dim(&fold(&clean(text), columns)),
        None if stderr.is_terminal() => paint.dim(&clean(text)),
        None => clean(text).into_owned(),
    };
    let _ = stderr.write_all(shown.as_bytes()).and_then(|()| stderr.write_all(b"\n"));
}

/// Puts a text into the clipboard of a terminal that takes it (OSC 52).
pub fn copy_to_clipboard(text: &str) {
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\u{1b}]52;c;{}\u{7}", STANDARD.encode(text)).and_then(|()| stderr.flush());
    }
}

/// Warns the user of an error that does not end the work.
pub fn warn(error: &Error) {
    say(&Line::warning(error.chain()));
}

/// Writes a line for the user to copy, as it is but for what a terminal would take for a command of its own.
pub fn say_whole(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", clean(text));
}

/// Writes lines for the user as `say` does; where they are more than the terminal shows, a screen at a time.
pub fn say_long(text: &str) {
    let size = size_of(rustix::stdio::stdout()).filter(|_| io::stderr().is_terminal());
    match size.map(|(columns, rows)| (fold(&clean(text), columns), rows)) {
        Some((shown, rows)) if shown.lines().count() >= rows => {
            let mut out = Out::stdout();
            out.page();
            out.line(&shown);
            let _ = out.finish();
        }
        _ => say(text),
    }
}

/// Writes a line for the user on stderr, broken between words where a terminal says how wide it is; if stderr is
/// closed, the line is dropped. Cleaned in a pipe too: a log of it is read on a terminal later.
pub fn say(line: &(impl Display + ?Sized)) {
    let text = line.to_string();
    let mut stderr = io::stderr().lock();
    let shown = match (stderr.is_terminal(), size_of(&stderr)) {
        (true, Some((columns, _))) => fold(&clean(&text), columns).into(),
        _ => clean(&text),
    };
    let _ = stderr.write_all(shown.as_bytes()).and_then(|()| stderr.write_all(b"\n"));
}
