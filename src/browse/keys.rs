//! The table of keys; the help lists it.

use crate::term::Press;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
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

impl Action {
    /// Whether its keys are common to all pagers.
    pub fn is_of_pagers(self) -> bool {
        matches!(self, Action::LineDown | Action::LineUp | Action::PageDown | Action::PageUp)
    }
}

/// Keys, their name in the help, their meaning, their action.
type Key = (&'static [Press], &'static str, &'static str, Action);

/// All keys. Alternatives share the row of the key that the help names.
pub const KEYS: &[Key] = &[
    (&[Press::Char('j')], "j", "next conversation, next message", Action::Next),
    (&[Press::Char('k')], "k", "previous one", Action::Previous),
    (&[Press::Down], "↓", "one line down", Action::LineDown),
    (&[Press::Up], "↑", "one line up", Action::LineUp),
    (&[Press::PageDown, Press::Ctrl('f'), Press::Ctrl('d')], "PgDn", "a screen down", Action::PageDown),
    (&[Press::PageUp, Press::Ctrl('b'), Press::Ctrl('u')], "PgUp", "a screen up", Action::PageUp),
    (&[Press::Char('g'), Press::Home], "g", "to the beginning", Action::First),
    (&[Press::Char('G'), Press::End], "G", "to the end", Action::Last),
    (
        &[Press::Enter, Press::Char('l'), Press::Right],
        "Enter",
        "open the conversation (also l)",
        Action::Open,
    ),
    (&[Press::Escape, Press::Char('h'), Press::Left], "Esc", "back to the list (also h)", Action::Back),
    (&[Press::Char('c')], "c", "continue it: lepo do --tail", Action::GoOn),
    (&[Press::Char('/')], "/", "find conversations", Action::Search),
    (&[Press::Char(' ')], "Space", "mark", Action::Mark),
    (&[Press::Char('d')], "d", "compare with the marked one", Action::Compare),
    (&[Press::Char('y')], "y", "copy the id", Action::Copy),
    (&[Press::Char('?')], "?", "this help", Action::Help),
    (&[Press::Char('q'), Press::Ctrl('c')], "q", "leave", Action::Leave),
];

pub fn action(press: Press) -> Option<Action> {
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
        assert_eq!(action(Press::Char('x')), None);
    }
}
