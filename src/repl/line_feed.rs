//! A line feed (Ctrl+J) that is typed counts as Enter does. The editor ends a batch of keys at an Enter and not at a line
//! feed, so what follows one may have been read already: it waits until that is known.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};
use reedline::{EditCommand, ReedlineEvent};

/// Why a line that the editor gave up is sent.
#[derive(Default)]
pub struct SentLine {
    /// A search of the history found it.
    pub found: AtomicBool,
    /// A line feed stands behind it.
    pub entered: AtomicBool,
}

/// The last line feed, as long as it may be an Enter or a line break.
pub struct LineFeed {
    waits: Cell<bool>,
    /// The last key may have moved in the menu, in which an Enter chooses.
    may_choose: bool,
    sent: Arc<SentLine>,
    stop: Arc<AtomicBool>,
}

impl LineFeed {
    /// None yet; an Enter is reported to `sent`, and `stop` makes the editor give up its line.
    pub fn new(sent: Arc<SentLine>, stop: Arc<AtomicBool>) -> LineFeed {
        LineFeed { waits: Cell::default(), may_choose: false, sent, stop }
    }

    /// The effect of a key where the line feed before it is a line break; `is_line_feed` says it may be an Enter itself.
    pub fn before(&mut self, event: ReedlineEvent, is_line_feed: bool) -> ReedlineEvent {
        let moves = matches!(event, ReedlineEvent::UntilFound(_) | ReedlineEvent::MenuPrevious);
        let is_line_feed = !std::mem::replace(&mut self.may_choose, moves) && is_line_feed;
        let waited = self.waits.replace(is_line_feed);
        let line_break = EditCommand::InsertNewline;
        match event {
            _ if is_line_feed && waited => ReedlineEvent::Edit(vec![line_break]),
            _ if is_line_feed => ReedlineEvent::None,
            // Nothing that was typed.
            ReedlineEvent::None | ReedlineEvent::Resize(..) => {
                self.waits.set(waited);
                event
            }
            event if !waited => event,
            ReedlineEvent::Edit(mut edits) => {
                edits.insert(0, line_break);
                ReedlineEvent::Edit(edits)
            }
            event => ReedlineEvent::Multiple(vec![ReedlineEvent::Edit(vec![line_break]), event]),
        }
    }

    /// All keys that were read are known: unless more `goes_on` to come, a line feed behind them is an Enter.
    pub fn settle(&self, goes_on: impl FnOnce() -> bool) {
        if self.waits.get() && !goes_on() {
            self.waits.set(false);
            self.sent.entered.store(true, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// True of a line feed, which a terminal in raw mode gives as Ctrl+J.
pub fn is_line_feed(event: &Event) -> bool {
    matches!(event, Event::Key(key) if key.code == KeyCode::Char('j') && key.modifiers == KeyModifiers::CONTROL)
}

#[cfg(test)]
mod tests {
    use super::*;

    // As `tmux send-keys -l` sends one: https://github.com/Kewton/CommandMate/pull/184,
    // https://github.com/asheshgoplani/agent-deck/pull/1862, https://github.com/PocketShell-io/pocketshell/issues/209.
    #[test]
    fn it_is_an_enter_unless_something_follows_in_the_keys_that_were_read() {
        let (sent, stop) = (Arc::<SentLine>::default(), Arc::<AtomicBool>::default());
        let mut feed = LineFeed::new(sent.clone(), stop.clone());
        let entered = || stop.load(Ordering::Relaxed) && sent.entered.load(Ordering::Relaxed);
        let line_break = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        let letter = EditCommand::InsertChar('x');
        assert_eq!(feed.before(ReedlineEvent::Enter, true), ReedlineEvent::None);
        assert_eq!(feed.before(ReedlineEvent::Enter, true), line_break());
        let broken = ReedlineEvent::Edit(vec![EditCommand::InsertNewline, letter.clone()]);
        assert_eq!(feed.before(ReedlineEvent::Edit(vec![letter]), false), broken);
        feed.settle(|| false);
        assert!(!entered(), "a letter stands behind it");

        feed.before(ReedlineEvent::Enter, true);
        feed.settle(|| true);
        assert!(!entered(), "more comes");
        let both = ReedlineEvent::Multiple(vec![line_break(), ReedlineEvent::Enter]);
        assert_eq!(feed.before(ReedlineEvent::Enter, false), both);

        feed.before(ReedlineEvent::Enter, true);
        for nothing_typed in [ReedlineEvent::None, ReedlineEvent::Resize(80, 24)] {
            assert_eq!(feed.before(nothing_typed.clone(), false), nothing_typed);
        }
        feed.settle(|| false);
        assert!(entered());
    }
}
