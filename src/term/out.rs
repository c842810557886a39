//! Writes stdout (data) and stderr (status). A closed pipe ends output silently; every other failure is an
//! error.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::early_rows::{EarlyRows, note_status_line};
use super::pager::{self, Pager};
use super::status_line::StatusLine;
use super::terminal::size_of;
use super::{Cleaner, Paint, clean, fold};
use lepo_base::error::{Error, Result};

/// stdout: control characters are made visible on a terminal only.
pub struct Out {
    to: BufWriter<Sink>,
    cleaner: Option<Cleaner>,
    closed: bool,
    used: bool,
    error: Option<io::Error>,
    /// The last byte was a newline, or nothing was written yet.
    at_line_start: bool,
}

impl Out {
    pub fn stdout() -> Out {
        let cleaner = io::stdout().is_terminal().then(Cleaner::default);
        let to = BufWriter::with_capacity(32 << 10, Sink::Stdout);
        Out { to, cleaner, closed: false, used: false, error: None, at_line_start: true }
    }

    pub fn is_terminal(&self) -> bool {
        self.cleaner.is_some()
    }

    /// Columns of the terminal; `None` if stdout is not a terminal or its size is unknown.
    pub fn columns(&self) -> Option<usize> {
        self.cleaner.as_ref().and_then(|_| size_of(rustix::stdio::stdout())).map(|(columns, _)| columns)
    }

    /// Whether the reader has closed the pipe: the command may stop.
    pub fn closed(&self) -> bool {
        self.closed
    }

    pub fn is_unused(&self) -> bool {
        !self.used
    }

    pub fn at_line_start(&self) -> bool {
        self.at_line_start
    }

    /// Writes bytes that lepo did not produce (a bubb, a model's text, a file name), cleaned on a terminal.
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

    /// Writes lepo's own text unchanged: a newline, a label, an escape sequence.
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

    pub fn line(&mut self, text: &str) {
        self.untrusted(text.as_bytes());
        self.trusted("\n");
    }

    /// Writes a document as a line of JSON. All that can fail comes before: after the first byte it has to be whole.
    pub fn document(&mut self, document: &impl Serialize) {
        // A closed pipe ends it, and `finish` returns other errors of the output.
        let _ = serde_json::to_writer(&mut *self, document);
        self.trusted("\n");
    }

    /// Writes a path as a line; outside a terminal its bytes are unchanged, which may not be UTF-8.
    pub fn path(&mut self, path: &Path) {
        self.untrusted(path.as_os_str().as_bytes());
        self.trusted("\n");
    }

    /// Flushes after row 1, 2, 4, 8 …: a list appears before it is complete, and `| head` ends it early.
    pub fn row_done(&mut self, i: usize) {
        let is_live = matches!(self.to.get_ref(), Sink::Screen(rows) if rows.is_live());
        if is_live || (i + 1).is_power_of_two() {
            self.flush_sink();
        }
    }

    /// Shows all output so far; what a pager shows has been read when this returns.
    pub fn flush(&mut self) {
        match self.to.get_ref() {
            Sink::Stdout => self.flush_sink(),
            Sink::Screen(_) | Sink::Pager(_) => self.leave_pager(),
        }
    }

    fn flush_sink(&mut self) {
        if !self.closed && self.error.is_none() {
            let flushed = self.to.flush();
            self.note(flushed);
        }
    }

    /// Sends further output through a pager once it is longer than the screen, if stdout is a terminal and a
    /// pager can be started.
    pub fn page(&mut self) {
        let size = size_of(rustix::stdio::stdout()).filter(|_| self.is_terminal() && self.is_unused());
        if let Some(size) = size {
            let screen = Sink::Screen(EarlyRows::new(size));
            self.to = BufWriter::with_capacity(32 << 10, screen);
        }
    }

    /// Shows what fits the screen, or waits until the user quits the pager.
    fn leave_pager(&mut self) {
        self.flush_sink();
        let stdout = BufWriter::with_capacity(32 << 10, Sink::Stdout);
        if let (Sink::Screen(rows), _) = std::mem::replace(&mut self.to, stdout).into_parts() {
            let written = self.to.write_all(&rows.into_rest());
            self.note(written);
        }
        self.flush_sink();
    }

    /// Ends the output; returns an error such as a full disk, but not a closed pipe.
    pub fn finish(&mut self) -> Result<()> {
        self.leave_pager();
        match self.error.take() {
            Some(error) => {
                self.closed = true;
                Err(Error::store("cannot write the output").because(error))
            }
            None => Ok(()),
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.used |= !bytes.is_empty();
        if !self.closed && self.error.is_none() {
            let put = self.to.write_all(bytes);
            self.note(put);
        }
    }

    fn note(&mut self, result: io::Result<()>) {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.closed = true,
            Err(error) => self.error = Some(error),
            Ok(()) => {}
        }
    }
}

enum Sink {
    /// Descriptor 1 itself: std's `Stdout` searches every write for its last newline.
    Stdout,
    /// Output that has to be longer than the screen for a pager to start.
    Screen(EarlyRows),
    Pager(Pager),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout => Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?),
            Sink::Pager(pager) => pager.write(bytes),
            Sink::Screen(rows) => {
                if !rows.push(bytes)?
                    && let Sink::Screen(rows) = std::mem::replace(self, Sink::Stdout)
                {
                    let all = match pager::choose() {
                        Some(chosen) => {
                            let all = rows.withdraw()?;
                            if let Some(pager) = pager::start(chosen) {
                                *self = Sink::Pager(pager);
                            }
                            all
                        }
                        None => rows.into_rest(),
                    };
                    self.write_all(&all)?;
                }
                Ok(bytes.len())
            }
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

pub fn print_status_dim(text: &str, paint: Paint) {
    let mut stderr = io::stderr().lock();
    let columns = size_of(&stderr).map(|(columns, _)| columns);
    let shown = match columns {
        Some(columns) => paint.dim(&fold(&clean(text), columns)),
        None if stderr.is_terminal() => paint.dim(&clean(text)),
        None => clean(text).into_owned(),
    };
    let _ = stderr.write_all(shown.as_bytes()).and_then(|()| stderr.write_all(b"\n"));
}

/// Copies `text` to the terminal's clipboard (OSC 52).
pub fn copy_to_clipboard(text: &str) {
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\u{1b}]52;c;{}\u{7}", STANDARD.encode(text)).and_then(|()| stderr.flush());
    }
}

pub fn warn(error: &Error) {
    print_status(&StatusLine::warning(error.chain()));
}

/// Writes a line unwrapped, to be copied or read by a program; only control characters are escaped.
pub fn print_verbatim(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", clean(text));
}

/// Like `say`, but uses a pager if the text has more lines than the terminal.
pub fn page_status(text: &str) {
    let size = size_of(rustix::stdio::stdout()).filter(|_| io::stderr().is_terminal());
    match size.map(|(columns, rows)| (fold(&clean(text), columns), rows)) {
        Some((shown, rows)) if shown.lines().count() >= rows => {
            let mut out = Out::stdout();
            out.page();
            out.line(&shown);
            let _ = out.finish();
        }
        _ => print_status(text),
    }
}

/// Writes a line to stderr, wrapped on a terminal; dropped if stderr is closed. Cleaned in a pipe too,
/// because a log may be read on a terminal later.
pub fn print_status(line: &(impl Display + ?Sized)) {
    note_status_line();
    let text = line.to_string();
    let mut stderr = io::stderr().lock();
    let shown = match (stderr.is_terminal(), size_of(&stderr)) {
        (true, Some((columns, _))) => fold(&clean(&text), columns).into(),
        _ => clean(&text),
    };
    let _ = stderr.write_all(shown.as_bytes()).and_then(|()| stderr.write_all(b"\n"));
}
