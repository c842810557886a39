//! The table of keys; the help lists it.

use crate::term::KeyPress;
use lepo_store::bubb::BubbId;

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
    /// Back, or in the tree to the parent.
    Left,
    /// Open, or in the tree to the next sibling.
    Right,
    Tree,
    Fold,
    GoOn,
    Search,
    Mark,
    Compare,
    Copy,
    Help,
    Leave,
}

/// The effect of a key outside the screen's state.
#[derive(Debug, PartialEq, Eq)]
pub enum ScreenStep {
    Stay,
    Copy(String),
    Leave,
    /// Leaves, and continues this conversation.
    GoOn(BubbId),
    /// Reads older conversations, then handles the key again.
    ReadOlder,
    /// Reads all conversations, then handles the key again.
    ReadAll,
}

impl KeyAction {
    /// Whether its keys are common to all pagers.
    pub fn is_of_pagers(self) -> bool {
        matches!(self, KeyAction::LineDown | KeyAction::LineUp | KeyAction::PageDown | KeyAction::PageUp)
    }
}

/// Keys with their actions, their name in the help, their meaning.
type KeyRow = (&'static [(KeyPress, KeyAction)], &'static str, &'static str);

/// All keys. The help names the first ones of a row.
pub const KEYS: &[KeyRow] = &[
    (
        &[(KeyPress::Char('j'), KeyAction::Next), (KeyPress::Char('k'), KeyAction::Previous)],
        "j",
        "next conversation, k: previous",
    ),
    (&[(KeyPress::Down, KeyAction::LineDown), (KeyPress::Up, KeyAction::LineUp)], "↓ ↑", "a line down, up"),
    (
        &[
            (KeyPress::PageDown, KeyAction::PageDown),
            (KeyPress::PageUp, KeyAction::PageUp),
            (KeyPress::Ctrl('f'), KeyAction::PageDown),
            (KeyPress::Ctrl('d'), KeyAction::PageDown),
            (KeyPress::Ctrl('b'), KeyAction::PageUp),
            (KeyPress::Ctrl('u'), KeyAction::PageUp),
        ],
        "PgDn",
        "a screen down; PgUp: up",
    ),
    (
        &[
            (KeyPress::Char('g'), KeyAction::First),
            (KeyPress::Char('G'), KeyAction::Last),
            (KeyPress::Home, KeyAction::First),
            (KeyPress::End, KeyAction::Last),
        ],
        "g G",
        "to the beginning, to the end",
    ),
    (
        &[(KeyPress::Enter, KeyAction::GoOn), (KeyPress::Char('c'), KeyAction::GoOn)],
        "Enter",
        "continue there (also c)",
    ),
    (&[(KeyPress::Char('l'), KeyAction::Open)], "l", "open the conversation"),
    (
        &[(KeyPress::Escape, KeyAction::Back), (KeyPress::Char('h'), KeyAction::Back)],
        "Esc",
        "back to the list (also h)",
    ),
    (&[(KeyPress::Char('t'), KeyAction::Tree)], "t", "the tree, and back"),
    (
        &[(KeyPress::Left, KeyAction::Left), (KeyPress::Right, KeyAction::Right)],
        "← →",
        "tree: parent, next sibling",
    ),
    (&[(KeyPress::Char('f'), KeyAction::Fold)], "f", "tree: fold what follows"),
    (&[(KeyPress::Char('/'), KeyAction::Search)], "/", "find conversations"),
    (&[(KeyPress::Char(' '), KeyAction::Mark)], "Space", "mark"),
    (&[(KeyPress::Char('d'), KeyAction::Compare)], "d", "compare with the marked one"),
    (&[(KeyPress::Char('y'), KeyAction::Copy)], "y", "copy the id"),
    (&[(KeyPress::Char('?'), KeyAction::Help)], "?", "this help"),
    (&[(KeyPress::Char('q'), KeyAction::Leave), (KeyPress::Ctrl('c'), KeyAction::Leave)], "q", "leave"),
];

pub fn action(press: KeyPress) -> Option<KeyAction> {
    KEYS.iter().flat_map(|(keys, ..)| *keys).find(|(key, _)| *key == press).map(|(_, action)| *action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_told_and_does_one_thing() {
        for (keys, name, meaning) in KEYS {
            assert!(!name.is_empty() && !meaning.is_empty());
            for (key, wanted) in *keys {
                assert_eq!(action(*key), Some(*wanted), "{name}");
            }
        }
        assert_eq!(action(KeyPress::Char('x')), None);
    }
}
