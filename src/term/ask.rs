//! Asks the user on the terminal device itself, so that it works inside a pipe too; during a turn from a
//! separate thread, so that a signal can withdraw the question.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::getpgrp;
use rustix::termios::{QueueSelector, tcgetpgrp};

use super::attention::QuestionWait;
use super::clean;
use super::echo_off::EchoOff;
use super::fold::fold;
use super::hangul_keys::is_yes;
use super::terminal::size_of;
use lepo_base::error::{Error, Result};
use lepo_base::sys::terminal;
use lepo_net::runtime::blocking;

pub struct Tty {
    write: File,
    read: BufReader<File>,
}

/// Opens the terminal; `None` without a terminal, or if lepo is in the background (as after `!` in a session):
/// there the question would be printed, and the first read of its answer would stop the whole job.
pub fn tty() -> Option<Tty> {
    let write = OpenOptions::new().read(true).write(true).open(terminal()?).ok()?;
    if tcgetpgrp(&write).is_ok_and(|group| group != getpgrp()) {
        return None;
    }
    let read = BufReader::new(write.try_clone().ok()?);
    Some(Tty { write, read })
}

impl Tty {
    pub fn show(&mut self, text: &str) -> io::Result<()> {
        self.write.write_all(clean(text).as_bytes())?;
        self.write.flush()
    }

    pub fn columns(&self) -> usize {
        size_of(&self.write).map_or(80, |(columns, _)| columns)
    }

    /// Discards what was typed or pasted before the question: that is not an answer to it.
    pub fn forget_typed(&self) {
        let _ = rustix::termios::tcflush(&self.write, QueueSelector::IFlush);
    }

    /// Asks a yes/no question. Discards earlier input; any answer but `y` and `yes` means no.
    pub fn confirm(&mut self, question: &str) -> Result<bool> {
        self.forget_typed();
        let answer = self
            .ask(question, &AtomicBool::new(false))
            .map_err(|error| Error::usage("cannot ask on the terminal").because(error))?;
        Ok(answer.is_some_and(|answer| is_yes(&answer)))
    }

    /// Asks and reads one line; `None` at the end of input, or once `withdrawn`. Repeats the question when a
    /// stopped job continues.
    pub fn ask(&mut self, question: &str, withdrawn: &AtomicBool) -> io::Result<Option<String>> {
        self.ask_about("\n", question, withdrawn)
    }

    pub fn ask_secret(&mut self, question: &str, withdrawn: &AtomicBool) -> io::Result<Option<String>> {
        let hidden = EchoOff::new(self.write.try_clone()?);
        let answered = self.ask(question, withdrawn);
        drop(hidden);
        // The newline that the user typed was not echoed either.
        self.show("\n")?;
        answered
    }

    /// Asks a question; when a stopped job continues, prints `about` again before it.
    pub fn ask_about(
        &mut self,
        about: &str,
        question: &str,
        withdrawn: &AtomicBool,
    ) -> io::Result<Option<String>> {
        let goes_on = Arc::new(AtomicBool::new(false));
        let heard = signal_hook::flag::register(signal_hook::consts::SIGCONT, goes_on.clone())?;
        let answered = self.wait_for_line((about, question), withdrawn, &goes_on);
        signal_hook::low_level::unregister(heard);
        answered
    }

    fn wait_for_line(
        &mut self,
        (about, question): (&str, &str),
        withdrawn: &AtomicBool,
        goes_on: &AtomicBool,
    ) -> io::Result<Option<String>> {
        let question = &fold(question, self.columns());
        self.show(question)?;
        let mut waiting = QuestionWait::start();
        // Polled in short steps: a blocked read could not be cancelled, and would consume the next line.
        // After a withdrawal, input that is ready is not read either: the terminal already belongs to the
        // prompt.
        loop {
            let ready = ready(self.read.get_ref())?;
            if withdrawn.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if goes_on.swap(false, Ordering::Relaxed) {
                self.show(&format!("{about}{question}"))?;
            } else if ready {
                break;
            }
            waiting.check(&mut self.write);
        }
        let mut line = String::new();
        let read = self.read.read_line(&mut line)?;
        if !line.ends_with('\n') {
            // Ctrl+D leaves the cursor on the line of the question.
            self.show("\n")?;
        }
        Ok((read > 0).then(|| line.trim().to_string()))
    }
}

/// Whether input is ready. Waits 20 ms at most.
fn ready(file: &File) -> io::Result<bool> {
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    let step = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    match rustix::event::poll(&mut fds, Some(&step)) {
        Ok(n) => Ok(n > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Withdraws the question on drop, unless it was answered, and waits for its reader to end, so that the
/// terminal is free.
struct WithdrawGuard {
    withdrawn: Arc<AtomicBool>,
    answered: bool,
    /// Disconnects when the reader has ended.
    reader_ended: Receiver<()>,
}

/// Upper bound of the wait for the reader: it may be in an editor that the user opened for the command.
const LEFT_BY_THEN: Duration = Duration::from_secs(1);

impl Drop for WithdrawGuard {
    fn drop(&mut self) {
        self.withdrawn.store(true, Ordering::Relaxed);
        if self.answered {
            return;
        }
        let _ = self.reader_ended.recv_timeout(LEFT_BY_THEN);
        if let Some(mut tty) = tty() {
            // Moves past the line of the question.
            let _ = tty.show("\n");
        }
    }
}

/// Runs `converse` on the terminal in a separate thread; `None` without a terminal.
pub async fn on_terminal<T: Send + 'static>(
    converse: impl FnOnce(&mut Tty, &AtomicBool) -> io::Result<T> + Send + 'static,
) -> Result<Option<T>> {
    let withdrawn = Arc::new(AtomicBool::new(false));
    let (leaves, left) = channel();
    let mut guard = WithdrawGuard { withdrawn: withdrawn.clone(), answered: false, reader_ended: left };
    let reply = blocking(move || {
        let _leaves: Sender<()> = leaves;
        tty().map(|mut tty| converse(&mut tty, &withdrawn)).transpose()
    })
    .await;
    guard.answered = true;
    reply
        .map_err(|error| Error::store("the question ended early").because(error))?
        .map_err(|error| Error::usage("cannot ask on the terminal").because(error))
}
