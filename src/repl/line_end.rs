//! A line end in a burst of keys sends the line if it is the last key, and is a line break otherwise. This rule
//! covers Enter within a burst, and every line feed (Ctrl+J): the editor ends a batch of keys at an Enter but not
//! at a line feed, and the next keys may have been read already.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};
use reedline::{EditCommand, ReedlineEvent};

/// The reason why a returned line is sent.
#[derive(Default)]
pub struct SentLine {
    /// Whether a search of the history found it.
    pub is_found: AtomicBool,
    /// Whether a line end follows it.
    pub is_entered: AtomicBool,
}

/// A key that ends a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndKey {
    /// Enter, a carriage return.
    Enter,
    /// A line feed.
    LineFeed,
}

/// The last line end, while it may send the line or break it.
pub struct LineEnd {
    waits: Cell<Option<EndKey>>,
    /// Whether the last key may have moved in the menu, where an Enter chooses.
    may_choose: bool,
    sent_line: Arc<SentLine>,
    stop: Arc<AtomicBool>,
}

impl LineEnd {
    /// Starts without a line end. An end that sends is reported to `sent`, and `stop` makes the editor return its
    /// line.
    pub fn new(sent_line: Arc<SentLine>, stop: Arc<AtomicBool>) -> LineEnd {
        LineEnd { waits: Cell::default(), may_choose: false, sent_line, stop }
    }

    /// Returns the effect of a key if the line end before it is a line break; `end` is set if this key is a line
    /// end itself.
    pub fn before(&mut self, event: ReedlineEvent, end: Option<EndKey>) -> ReedlineEvent {
        let moves = matches!(event, ReedlineEvent::UntilFound(_) | ReedlineEvent::MenuPrevious);
        let end = end.filter(|_| !self.may_choose);
        self.may_choose = moves;
        let waited = self.waits.replace(end);
        let line_break = EditCommand::InsertNewline;
        match event {
            // Both together end one line.
            _ if (waited, end) == (Some(EndKey::Enter), Some(EndKey::LineFeed)) => ReedlineEvent::None,
            _ if end.is_some() && waited.is_some() => ReedlineEvent::Edit(vec![line_break]),
            _ if end.is_some() => ReedlineEvent::None,
            // Not a typed key.
            ReedlineEvent::None | ReedlineEvent::Resize(..) => {
                self.waits.set(waited);
                event
            }
            event if waited.is_none() => event,
            ReedlineEvent::Edit(mut edits) => {
                edits.insert(0, line_break);
                ReedlineEvent::Edit(edits)
            }
            event => ReedlineEvent::Multiple(vec![ReedlineEvent::Edit(vec![line_break]), event]),
        }
    }

    /// Called after all read keys are handled: unless more input `goes_on`, a line end after them sends the line.
    pub fn settle(&self, goes_on: impl FnOnce() -> bool) {
        if self.waits.get().is_some() && !goes_on() {
            self.waits.set(None);
            self.sent_line.is_entered.store(true, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Whether a key is a line feed, which a terminal in raw mode sends as Ctrl+J.
pub fn is_line_feed(event: &Event) -> bool {
    matches!(event, Event::Key(key) if key.code == KeyCode::Char('j') && key.modifiers == KeyModifiers::CONTROL)
}

#[cfg(test)]
mod tests {
    use super::*;

    // `tmux send-keys -l` sends line feeds: https://github.com/Kewton/CommandMate/pull/184,
    // https://github.com/asheshgoplani/agent-deck/pull/1862,
    // https://github.com/PocketShell-io/pocketshell/issues/209.
    #[test]
    fn it_is_an_enter_unless_something_follows_in_the_keys_that_were_read() {
        let (sent, stop) = (Arc::<SentLine>::default(), Arc::<AtomicBool>::default());
        let mut end = LineEnd::new(sent.clone(), stop.clone());
        let entered = || stop.load(Ordering::Relaxed) && sent.is_entered.load(Ordering::Relaxed);
        let line_break = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        let letter = EditCommand::InsertChar('x');
        assert_eq!(end.before(ReedlineEvent::Enter, Some(EndKey::LineFeed)), ReedlineEvent::None);
        assert_eq!(end.before(ReedlineEvent::Enter, Some(EndKey::LineFeed)), line_break());
        let broken = ReedlineEvent::Edit(vec![EditCommand::InsertNewline, letter.clone()]);
        assert_eq!(end.before(ReedlineEvent::Edit(vec![letter]), None), broken);
        end.settle(|| false);
        assert!(!entered(), "a letter stands behind it");

        end.before(ReedlineEvent::Enter, Some(EndKey::LineFeed));
        end.settle(|| true);
        assert!(!entered(), "more comes");
        let both = ReedlineEvent::Multiple(vec![line_break(), ReedlineEvent::Enter]);
        assert_eq!(end.before(ReedlineEvent::Enter, None), both);

        end.before(ReedlineEvent::Enter, Some(EndKey::LineFeed));
        for nothing_typed in [ReedlineEvent::None, ReedlineEvent::Resize(80, 24)] {
            assert_eq!(end.before(nothing_typed.clone(), None), nothing_typed);
        }
        end.settle(|| false);
        assert!(entered());
    }
    // With both, as terminals paste lines of another system: https://github.com/markeel/gdterm/pull/27.
    #[test]
    fn a_return_with_its_line_feed_ends_one_line() {
        use EndKey::{Enter, LineFeed};
        let typed = |ends: &[EndKey]| {
            let mut end = LineEnd::new(Arc::default(), Arc::default());
            let breaks = |event| event == ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
            ends.iter().filter(|&&key| breaks(end.before(ReedlineEvent::Enter, Some(key)))).count()
        };
        // The last end of a line waits for what follows it.
        for (ends, lines) in [
            (&[Enter, LineFeed][..], 1),
            (&[Enter, LineFeed, Enter, LineFeed], 2),
            (&[Enter, Enter], 2),
            (&[LineFeed, LineFeed], 2),
            (&[LineFeed, Enter], 2),
            (&[Enter, LineFeed, LineFeed], 2),
        ] {
            assert_eq!(typed(ends) + 1, lines, "{ends:?}");
        }
    }
}
