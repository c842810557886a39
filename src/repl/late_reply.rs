//! Late replies of the terminal, which must not count as the user's keys.

use std::time::{Duration, Instant};

use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};

/// The maximum interval between the keys of a reply.
const GOES_ON: Duration = Duration::from_millis(50);

/// A terminal's reply that is being skipped, such as the one about its colours: a string that the editor's library
/// reads as keys after Alt with a bracket.
#[derive(Default)]
pub struct LateReply {
    /// The time of its last key.
    last: Option<Instant>,
}

impl LateReply {
    /// Whether an event belongs to a reply.
    pub fn consume(&mut self, event: &Event) -> bool {
        let Event::Key(key) = event else { return false };
        let is_alt = key.modifiers.contains(KeyModifiers::ALT);
        let is_inside = self.last.take().is_some_and(|last| last.elapsed() <= GOES_ON);
        let is_end = (is_alt && key.code == KeyCode::Char('\\'))
            || (key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('g'));
        let begins = is_alt && matches!(key.code, KeyCode::Char(']' | 'P' | 'X' | '^'));
        self.last = ((is_inside && !is_end) || begins).then(Instant::now);
        is_inside || begins
    }
}

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
        ] {
            let mut reply = LateReply::default();
            assert!(has(&mut reply, KeyCode::Char(begin), KeyModifiers::ALT), "{report}");
            for c in text.chars() {
                assert!(has(&mut reply, KeyCode::Char(c), plain), "{report}");
            }
            assert!(has(&mut reply, end.0, end.1), "{report}");
            assert!(!has(&mut reply, KeyCode::Char('x'), plain), "{report}");
        }
        // A key of the user arrives later.
        let mut reply = LateReply::default();
        has(&mut reply, KeyCode::Char(']'), KeyModifiers::ALT);
        reply.last = Instant::now().checked_sub(GOES_ON * 2);
        assert!(!has(&mut reply, KeyCode::Char('x'), plain));
    }
}
