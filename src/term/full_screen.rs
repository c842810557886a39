//! Uses the whole terminal as a screen that is redrawn; dropping it restores the previous content.

use std::io::{self, IsTerminal, Stdout, Write, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
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
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{Relay, is_dumb, stdin_is_gone};
use lepo_base::error::{Error, ExitKind, Result};

/// Longest delay until a signal is noticed.
const SIGNAL: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPress {
    Char(char),
    /// Ctrl with a letter.
    Ctrl(char),
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    /// A resize, or a key without a meaning here.
    Other,
}

/// A terminal in raw mode, on its alternate screen.
pub struct FullScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    events: KeyReader,
    /// Signal that ends the program; 0 for none.
    signal: Arc<AtomicUsize>,
    _relay: Option<Relay>,
}

impl FullScreen {
    /// Switches the terminal; exit 2 without a terminal.
    pub fn open() -> Result<FullScreen> {
        if is_dumb() {
            return Err(Error::usage("TERM names a terminal that cannot show a full screen")
                .hint("`lepo ls` and `lepo show` need none"));
        }
        if !stdin().is_terminal() || !stdout().is_terminal() {
            return Err(Error::usage("a full screen needs a terminal").hint("in a pipe: lepo ls, lepo show"));
        }
        let failed = |error: io::Error| Error::usage("the terminal cannot be used").because(error);
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGHUP, SIGINT, SIGTERM] {
            let _ = signal_hook::flag::register_usize(number, signal.clone(), number as usize);
        }
        let relay = Relay::start();
        let events = KeyReader::start().map_err(failed)?;
        enable_raw_mode().map_err(failed)?;
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave();
            before(info);
        }));
        execute!(stdout(), EnterAlternateScreen).map_err(failed)?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout())).map_err(failed)?;
        Ok(FullScreen { terminal, events, signal, _relay: relay })
    }

    /// Redraws the screen; ratatui writes only the cells that changed.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<()> {
        let drawn = self.terminal.draw(draw).map(|_| ());
        drawn.map_err(|error| Error::store("cannot write to the terminal").because(error))
    }

    pub fn press(&mut self) -> Result<KeyPress> {
        let failed = |error: io::Error| Error::store("cannot read from the terminal").because(error);
        loop {
            let number = self.signal.load(Ordering::Relaxed);
            if number > 0 {
                return Err(Error::new(ExitKind::Signal(number as u8), "interrupted"));
            }
            match self.events.next().map_err(failed)? {
                Some(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    return Ok(press(key.code, key.modifiers));
                }
                Some(Event::Resize(..)) => return Ok(KeyPress::Other),
                Some(_) => {}
                None if stdin_is_gone() => {
                    return Err(Error::new(ExitKind::Signal(SIGHUP as u8), "the terminal is gone"));
                }
                None => {}
            }
        }
    }

    /// Copies `text` to the terminal's clipboard (OSC 52).
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

/// Reads the terminal in a separate thread: crossterm never returns from reading a lost one.
struct KeyReader {
    requests: SyncSender<()>,
    pressed: Receiver<io::Result<Option<Event>>>,
}

impl KeyReader {
    fn start() -> io::Result<KeyReader> {
        let (asked, requests) = sync_channel(0);
        let (events, pressed) = sync_channel(1);
        thread::Builder::new().spawn(move || {
            while requests.recv().is_ok() {
                let event = poll(SIGNAL).and_then(|is_there| is_there.then(read).transpose());
                if events.send(event).is_err() {
                    return;
                }
            }
        })?;
        Ok(KeyReader { requests: asked, pressed })
    }

    /// Returns the next event; `None` after a while without one, or if the terminal is gone.
    fn next(&self) -> io::Result<Option<Event>> {
        let ended = || io::Error::other("its thread ended early");
        self.requests.send(()).map_err(|_| ended())?;
        loop {
            match self.pressed.recv_timeout(2 * SIGNAL) {
                Ok(event) => return event,
                Err(RecvTimeoutError::Timeout) if stdin_is_gone() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            }
        }
    }
}

fn leave() {
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyPress {
    match code {
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
            KeyPress::Ctrl(c.to_ascii_lowercase())
        }
        KeyCode::Char(c) if !modifiers.contains(KeyModifiers::ALT) => KeyPress::Char(c),
        KeyCode::Up => KeyPress::Up,
        KeyCode::Down => KeyPress::Down,
        KeyCode::Left => KeyPress::Left,
        KeyCode::Right => KeyPress::Right,
        KeyCode::PageUp => KeyPress::PageUp,
        KeyCode::PageDown => KeyPress::PageDown,
        KeyCode::Home => KeyPress::Home,
        KeyCode::End => KeyPress::End,
        KeyCode::Enter => KeyPress::Enter,
        KeyCode::Esc => KeyPress::Escape,
        KeyCode::Backspace => KeyPress::Backspace,
        _ => KeyPress::Other,
    }
}
