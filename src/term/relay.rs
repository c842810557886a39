//! The terminal's input on its way to the line editor, through a terminal of lepo's own: there the end of a paste is put
//! where none comes. The editor's library reads nothing but a terminal on stdin, and knows no end of a paste but its mark.

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

/// A single pty for the whole process: the editor's library asks for events of the terminal that it saw first.
static PTY: OnceLock<Option<Pty>> = OnceLock::new();

/// Input that was read from the terminal, and from its end by nobody.
static UNREAD: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Both ends of a terminal without a screen; neither waits.
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

/// While it lives, the terminal is raw, and stdin is lepo's own terminal with the input of that; dropped, both are as
/// they were.
pub struct Relay {
    terminal: OwnedFd,
    was: Termios,
    stop: UnixStream,
    thread: Option<JoinHandle<()>>,
    pty: &'static Pty,
}

impl Relay {
    /// Puts itself between; `None` where no terminal can be made: a paste without its end is waited for then.
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

    /// Input that was typed ahead of the end of the last one.
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
        // It ends with an error: there is never an end of the input, only no more of it.
        let _ = (&self.pty.slave).read_to_end(&mut arrived);
        let mut unread = UNREAD.lock().unwrap_or_else(PoisonError::into_inner);
        unread.splice(..0, arrived);
    }
}

/// Passes on what is read, until it is stopped or the terminal is gone.
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
                // Where stdin is looked at, it is to be seen that the terminal is gone.
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
