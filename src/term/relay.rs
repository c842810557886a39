//! Passes the terminal's input to the line editor through a pty of lepo's own, in order to add the missing end of a
//! paste. The editor's library reads only from a terminal on stdin, and ends a paste only at its mark.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::stdio::{dup2_stdin, stdin};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::paste_marks::PasteMarks;

/// A single pty for the whole process: the editor's library waits for events of the first terminal that it used.
static PTY: OnceLock<Option<Pty>> = OnceLock::new();

/// Input from the terminal that the editor has not read.
static UNREAD: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Both ends of a non-blocking pty.
struct Pty {
    master: File,
    slave: File,
}

impl Pty {
    fn open() -> io::Result<Pty> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        fcntl_setfd(&master, FdFlags::CLOEXEC)?;
        fcntl_setfl(&master, OFlags::RDWR | OFlags::NONBLOCK)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits().cast_signed();
        let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        let slave = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
        let mut modes = tcgetattr(&slave)?;
        modes.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &modes)?;
        Ok(Pty { master: master.into(), slave })
    }
}

/// While it exists, the terminal is raw, and stdin is the pty with its input. Dropping it restores both.
pub struct Relay {
    terminal: OwnedFd,
    was: Termios,
    stop: UnixStream,
    thread: Option<JoinHandle<()>>,
    pty: &'static Pty,
}

impl Relay {
    /// Starts relaying; `None` if no pty can be created, in which case a paste without an end mark blocks.
    pub fn start() -> Option<Relay> {
        let pty = PTY.get_or_init(|| Pty::open().ok()).as_ref()?;
        let terminal = fcntl_dupfd_cloexec(stdin(), 3).ok()?;
        let input = File::from(terminal.try_clone().ok()?);
        let was = tcgetattr(&terminal).ok()?;
        let (stop, stopped) = UnixStream::pair().ok()?;
        let mut modes = was.clone();
        modes.make_raw();
        tcsetattr(&terminal, OptionalActions::Now, &modes).ok()?;
        let mut relay = Relay { terminal, was, stop, thread: None, pty };
        dup2_stdin(&pty.slave).ok()?;
        let work = move || pass_input(input, &pty.master, &stopped);
        relay.thread = Some(std::thread::Builder::new().spawn(work).ok()?);
        Some(relay)
    }

    /// Returns input that the last relay left unread.
    pub fn unread() -> Vec<u8> {
        std::mem::take(&mut *UNREAD.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.stop.shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = dup2_stdin(&self.terminal);
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.was);
        let mut arrived = Vec::new();
        // Ends with an error: a pty has no end of input, only a lack of it.
        let _ = (&self.pty.slave).read_to_end(&mut arrived);
        let mut unread = UNREAD.lock().unwrap_or_else(PoisonError::into_inner);
        unread.splice(..0, arrived);
    }
}

/// Passes on the input until it is stopped or the terminal is closed.
fn pass_input(terminal: File, mut master: &File, stopped: &UnixStream) {
    let mut marks = PasteMarks::default();
    let mut waiting = Relay::unread();
    let mut bytes = [0; 4096];
    loop {
        let reads = waiting.is_empty();
        let next =
            if reads { PollFd::new(&terminal, PollFlags::IN) } else { PollFd::new(master, PollFlags::OUT) };
        let mut fds = [PollFd::new(stopped, PollFlags::IN), next];
        let patience = marks.patience().filter(|_| reads).and_then(|time| Timespec::try_from(time).ok());
        match poll(&mut fds, patience.as_ref()) {
            Ok(0) => waiting.extend_from_slice(marks.close()),
            Ok(_) if !fds[0].revents().is_empty() => break,
            Ok(_) if reads => match (&terminal).read(&mut bytes) {
                Ok(count) if count > 0 => waiting = marks.pass(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A reader that polls stdin must see that the terminal is closed.
                _ => {
                    let _ = dup2_stdin(&terminal);
                    break;
                }
            },
            Ok(_) => match master.write(&waiting) {
                Ok(count) => drop(waiting.drain(..count)),
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
                Err(_) => break,
            },
            Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    UNREAD.lock().unwrap_or_else(PoisonError::into_inner).extend(waiting);
}
