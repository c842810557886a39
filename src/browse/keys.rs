//! The table of keys; the help lists it.

use crate::term::KeyPress;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    Next,
    Previous,
    LineDown,
    LineUp,
    PageDown,
    PageUp,
    First,
    Last,
    Open,
    Back,
    GoOn,
    Search,
    Mark,
    Compare,
    Copy,
    Help,
    Leave,
}

impl KeyAction {
    /// Whether its keys are common to all pagers.
    pub fn is_of_pagers(self) -> bool {
        matches!(self, KeyAction::LineDown | KeyAction::LineUp | KeyAction::PageDown | KeyAction::PageUp)
    }
}

/// Keys, their name in the help, their meaning, their action.
type KeyRow = (&'static [KeyPress], &'static str, &'static str, KeyAction);

/// All keys. Alternatives share the row of the key that the help names.
pub const KEYS: &[KeyRow] = &[
    (&[KeyPress::Char('j')], "j", "next conversation, next message", KeyAction::Next),
    (&[KeyPress::Char('k')], "k", "previous one", KeyAction::Previous),
    (&[KeyPress::Down], "↓", "one line down", KeyAction::LineDown),
    (&[KeyPress::Up], "↑", "one line up", KeyAction::LineUp),
    (
        &[KeyPress::PageDown, KeyPress::Ctrl('f'), KeyPress::Ctrl('d')],
        "PgDn",
        "a screen down",
        KeyAction::PageDown,
    ),
    (&[KeyPress::PageUp, KeyPress::Ctrl('b'), KeyPress::Ctrl('u')], "PgUp", "a screen up", KeyAction::PageUp),
    (&[KeyPress::Char('g'), KeyPress::Home], "g", "to the beginning", KeyAction::First),
    (&[KeyPress::Char('G'), KeyPress::End], "G", "to the end", KeyAction::Last),
    (
        &[KeyPress::Enter, KeyPress::Char('l'), KeyPress::Right],
        "Enter",
        "open the conversation (also l)",
        KeyAction::Open,
    ),
    (
        &[KeyPress::Escape, KeyPress::Char('h'), KeyPress::Left],
        "Esc",
        "back to the list (also h)",
        KeyAction::Back,
    ),
    (&[KeyPress::Char('c')], "c", "continue it: lepo do --tail", KeyAction::GoOn),
    (&[KeyPress::Char('/')], "/", "find conversations", KeyAction::Search),
    (&[KeyPress::Char(' ')], "Space", "mark", KeyAction::Mark),
    (&[KeyPress::Char('d')], "d", "compare with the marked one", KeyAction::Compare),
    (&[KeyPress::Char('y')], "y", "copy the id", KeyAction::Copy),
    (&[KeyPress::Char('?')], "?", "this help", KeyAction::Help),
    (&[KeyPress::Char('q'), KeyPress::Ctrl('c')], "q", "leave", KeyAction::Leave),
];

pub fn action(press: KeyPress) -> Option<KeyAction> {
    KEYS.iter().find(|(keys, ..)| keys.contains(&press)).map(|(.., action)| *action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_told_and_does_one_thing() {
        for (keys, name, meaning, wanted) in KEYS {
            assert!(!name.is_empty() && !meaning.is_empty());
            for key in *keys {
                assert_eq!(action(*key), Some(*wanted), "{name}");
            }
        }
        assert_eq!(action(KeyPress::Char('x')), None);
    }
}
