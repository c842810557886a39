//! Late replies of the terminal, which must not count as the user's keys.

use std::cell::OnceCell;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};

/// The maximum interval between the keys of a reply.
const GOES_ON: Duration = Duration::from_millis(50);

/// The maximum interval between the characters of a reply whose beginning the editor's library drops: no user types so fast.
const AT_ONCE: Duration = Duration::from_millis(10);

/// The time after the first prompt in which a reply about the device counts: lepo asks for none, so that only a program
/// before it did. Later, the same characters are text that another program types.
const DEVICE: Duration = Duration::from_secs(1);

/// A terminal's reply that is being skipped, such as the one about its colours: a string that the editor's library
/// reads as keys after Alt with a bracket.
#[derive(Default)]
pub struct LateReply {
    /// The time of its last key.
    last: Option<Instant>,
    /// The characters that arrived at once, and the time of the last.
    at_once: (String, Option<Instant>),
    first_prompt: OnceCell<Instant>,
}

impl LateReply {
    /// Whether an event belongs to a reply.
    pub fn consume(&mut self, event: &Event) -> bool {
        let Event::Key(key) = event else { return false };
        let is_alt = key.modifiers.contains(KeyModifiers::ALT);
        let is_inside = self.last.take().is_some_and(|last| last.elapsed() <= GOES_ON);
        let is_end = (is_alt && key.code == KeyCode::Char('\\'))
            || (key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('g'));
        let begins = is_alt && matches!(key.code, KeyCode::Char(']' | 'P' | 'X' | '^' | '_'));
        self.last = ((is_inside && !is_end) || begins).then(Instant::now);
        is_inside || begins
    }

    /// Notes that a prompt is on the terminal.
    pub fn note_prompt(&self) {
        self.first_prompt.get_or_init(Instant::now);
    }

    /// Returns the number of characters before this event that are the reply about the device, `ESC [ > 1;10;0 c`, if the
    /// event ends one. The library drops its first three bytes, and reads the others as typed text.
    pub fn device(&mut self, event: &Event) -> Option<usize> {
        if self.first_prompt.get().is_none_or(|first| first.elapsed() > DEVICE) {
            return None;
        }
        let (text, last) = &mut self.at_once;
        let is_at_once = last.take().is_some_and(|last| last.elapsed() <= AT_ONCE);
        if !is_at_once {
            text.clear();
        }
        match event {
            Event::Key(key) if key.modifiers.is_empty() && key.code == KeyCode::Char('c') => {
                let is_number =
                    |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
                let is_reply = text.split(';').count() == 3 && text.split(';').all(is_number);
                return Some(text.len()).filter(|_| is_reply);
            }
            Event::Key(key) if key.modifiers.is_empty() && text.len() < LONGEST => match key.code {
                KeyCode::Char(c) => text.push(c),
                _ => text.clear(),
            },
            _ => text.clear(),
        }
        *last = Some(Instant::now());
        None
    }
}

/// Longest reply about the device, in characters.
const LONGEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::crossterm::event::KeyEvent;

    fn has(reply: &mut LateReply, code: KeyCode, modifiers: KeyModifiers) -> bool {
        reply.consume(&Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn a_late_reply_of_the_terminal_is_no_word() {
        let plain = KeyModifiers::NONE;
        let (bell, string_end) =
            ((KeyCode::Char('g'), KeyModifiers::CONTROL), (KeyCode::Char('\\'), KeyModifiers::ALT));
        for (report, begin, text, end) in [
            ("https://github.com/microsoft/terminal/issues/19904", ']', "11;rgb:1e1e/1e1e/1e1e", string_end),
            ("https://github.com/zellij-org/zellij/issues/5138", ']', "10;rgb:cdcd/d6d6/f4f4", string_end),
            ("https://github.com/realiti4/claude-swap/issues/177", ']', "11;rgb:1e1d/1e1d/1e1d", bell),
            ("https://github.com/1jehuang/jcode/issues/970", ']', "11;rgb:3030/3434/4646", string_end),
            ("https://github.com/stablyai/orca/issues/16633", ']', "11;rgb:1c1c/1e1e/2626", bell),
            ("the name of a terminal", 'P', ">|xterm(390)", string_end),
            ("graphics of kitty", '_', "Gi=31;OK", string_end),
        ] {
            let mut reply = LateReply::default();
            assert!(has(&mut reply, KeyCode::Char(begin), KeyModifiers::ALT), "{report}");
            for c in text.chars() {
                assert!(has(&mut reply, KeyCode::Char(c), plain), "{report}");
            }
            assert!(has(&mut reply, end.0, end.1), "{report}");
            assert!(!has(&mut reply, KeyCode::Char('x'), plain), "{report}");
        }
        // https://github.com/PowerShell/Win32-OpenSSH/issues/2275
        let device_since = |first_prompt: Instant, text: &str| {
            let mut reply = LateReply { first_prompt: OnceCell::from(first_prompt), ..Default::default() };
            let event = |c| Event::Key(KeyEvent::new(KeyCode::Char(c), plain));
            text.chars().filter_map(|c| reply.device(&event(c))).collect::<Vec<_>>()
        };
        for (text, expected) in [
            ("1;10;0c", &[6][..]),
            ("65;6800;1c", &[9]),
            ("0;276;0", &[]),
            ("1;10c", &[]),
            ("x1;10;0c", &[]),
            ("1;a;0c", &[]),
            (";;c", &[]),
            ("c", &[]),
        ] {
            assert_eq!(device_since(Instant::now(), text), expected, "{text}");
        }
        let earlier = Instant::now().checked_sub(DEVICE * 2).unwrap();
        assert_eq!(device_since(earlier, "38;5;196c"), [0; 0]);
        // A key of the user arrives later.
        let mut reply = LateReply::default();
        has(&mut reply, KeyCode::Char(']'), KeyModifiers::ALT);
        reply.last = Instant::now().checked_sub(GOES_ON * 2);
        assert!(!has(&mut reply, KeyCode::Char('x'), plain));
    }
}
