//! The whole terminal as a screen that is redrawn; what was on it comes back when this is dropped.

use std::io::{IsTerminal, Stdout, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};
use rustix::event::{PollFd, PollFlags, Timespec};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::is_dumb;
use crate::error::{Error, Kind, Result};

/// The time for which a signal may wait to be seen.
const SIGNAL: Duration = Duration::from_millis(200);

/// A key, as far as a full screen has use for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Press {
    /// A character.
    Char(char),
    /// Ctrl and a letter.
    Ctrl(char),
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// The terminal has another size; or another key, which means nothing.
    Other,
}

/// A terminal in raw mode, on its other screen.
pub struct FullScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// The signal that asked for the end.
    signal: Arc<AtomicUsize>,
}

impl FullScreen {
    /// Takes the terminal; exit 2 where there is none.
    pub fn open() -> Result<FullScreen> {
        if !stdin().is_terminal() || !stdout().is_terminal() || is_dumb() {
            return Err(Error::usage("a full screen needs a terminal").hint("in a pipe: lepo ls, lepo show"));
        }
        let failed = |error: std::io::Error| Error::usage("the terminal cannot be used").because(error);
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGHUP, SIGINT, SIGTERM] {
            let _ = signal_hook::flag::register_usize(number, signal.clone(), number as usize);
        }
        enable_raw_mode().map_err(failed)?;
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave();
            before(info);
        }));
        execute!(stdout(), EnterAlternateScreen).map_err(failed)?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout())).map_err(failed)?;
        Ok(FullScreen { terminal, signal })
    }

    /// Draws the screen anew; only what changed is written.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<()> {
        let drawn = self.terminal.draw(draw).map(|_| ());
        drawn.map_err(|error| Error::store("cannot write to the terminal").because(error))
    }

    /// Waits for a key, or for the terminal to be resized.
    pub fn press(&mut self) -> Result<Press> {
        let failed = |error: std::io::Error| Error::store("cannot read from the terminal").because(error);
        loop {
            let number = self.signal.load(Ordering::Relaxed);
            if number > 0 {
                return Err(Error::new(Kind::Signal(number as u8), "interrupted"));
            }
            // crossterm reads a terminal that is gone for ever: it is asked only about one that is there.
            let gone = || Error::new(Kind::Signal(SIGHUP as u8), "the terminal is gone");
            if !is_there(Duration::ZERO) {
                return Err(gone());
            }
            if !poll(Duration::ZERO).map_err(failed)? {
                if !is_there(SIGNAL) {
                    return Err(gone());
                }
                continue;
            }
            match read().map_err(failed)? {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    return Ok(press(key.code, key.modifiers));
                }
                Event::Resize(..) => return Ok(Press::Other),
                _ => {}
            }
        }
    }

    /// Gives a text to the terminal's clipboard (OSC 52).
    pub fn copy(&mut self, text: &str) {
        let mut to = stdout();
        let _ = write!(to, "\x1b]52;c;{}\x07", STANDARD.encode(text)).and_then(|()| to.flush());
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        leave();
    }
}

/// Waits until the terminal has something to read, or for so long; false once it is gone.
fn is_there(wait: Duration) -> bool {
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let wait = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
    let _ = rustix::event::poll(&mut fds, Some(&wait));
    !fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

fn leave() {
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

fn press(code: KeyCode, modifiers: KeyModifiers) -> Press {
    match code {
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => Press::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) if !modifiers.contains(KeyModifiers::ALT) => Press::Char(c),
        KeyCode::Up => Press::Up,
        KeyCode::Down => Press::Down,
        KeyCode::Left => Press::Left,
        KeyCode::Right => Press::Right,
        KeyCode::PageUp => Press::PageUp,
        KeyCode::PageDown => Press::PageDown,
        KeyCode::Home => Press::Home,
        KeyCode::End => Press::End,
        KeyCode::Enter => Press::Enter,
        KeyCode::Esc => Press::Escape,
        KeyCode::Backspace => Press::Backspace,
        _ => Press::Other,
    }
}
