//! Browses the forest on the full terminal, read-only: conversations or the tree of one on the left, messages on the
//! right.
//!
//! Reads only what is visible: a row's question when the row is drawn, a message when it is.

mod browser;
mod compare;
mod draw;
mod keys;
mod message_pane;
mod rows;
mod tree;

use std::ops::ControlFlow;

use crate::term::{FullScreen, Paint};
use browser::{Browser, BrowserState};
use keys::ScreenStep;
use lepo_base::error::Result;
use lepo_store::bubb::BubbId;
use lepo_store::conv::ReadScope;
use lepo_store::store::Store;
use lepo_turn::StoppedAnswers;
use lepo_turn::config::MathNotation;
use message_pane::BrowsedStore;

/// Conversations to read at first, and the factor for each further read.
const FIRST: usize = 256;
const TIMES: usize = 16;

/// Where the browser opens, how it shows answers, and what continues a conversation.
pub struct BrowserStart<'a> {
    /// Opens the tree at this message; `None` opens the list.
    pub tree_at: Option<BubbId>,
    pub paint: Paint,
    /// How formulas are written; `None` does not render the Markdown of answers, as without colours.
    pub math: Option<MathNotation>,
    /// Continues a conversation at this message, with the terminal as it was. The browser comes back after
    /// `Continue`.
    pub go_on: &'a mut dyn FnMut(BubbId) -> Result<ControlFlow<()>>,
}

/// Browses until the user leaves.
///
/// Reads the newest conversations at first, and older ones once a key needs them.
pub fn browse(store: &Store, start: BrowserStart<'_>) -> Result<()> {
    let (paint, math) = (start.paint, start.math.filter(|_| start.paint.is_on()));
    let is_alone = store.peers().is_empty();
    let mut limit = Some(FIRST).filter(|_| is_alone && start.tree_at.is_none());
    let mut resumed = BrowserState::default();
    let mut tree_at = start.tree_at;
    let mut on_screen = None;
    loop {
        let facts = store.journal().index();
        let forest = store.forest_for(&[limit.map_or(ReadScope::All { peers: true }, ReadScope::newest)])?;
        let stopped = StoppedAnswers::new(store, &forest);
        let own = store.own_newest().unwrap_or_default();
        let read =
            BrowsedStore { store, forest: &forest, facts: &facts, own, stopped: &stopped, paint, math };
        let mut browser = Browser::new(read, limit)?;
        let mut press = browser.resume(resumed);
        if let Some(id) = tree_at.take() {
            browser.open_tree(id);
        }
        loop {
            let screen = match &mut on_screen {
                Some(screen) => screen,
                None => on_screen.insert(FullScreen::open()?),
            };
            let key = match press.take() {
                Some(key) => key,
                None => {
                    screen.draw(|frame| draw::draw(&mut browser, frame))?;
                    screen.press()?
                }
            };
            match browser.press(key) {
                ScreenStep::Stay => continue,
                ScreenStep::Copy(text) => {
                    screen.copy(&text);
                    continue;
                }
                ScreenStep::Leave => return Ok(()),
                ScreenStep::ReadOlder => limit = limit.map(|limit| limit * TIMES),
                ScreenStep::ReadAll => limit = None,
                ScreenStep::GoOn(id) => {
                    on_screen = None;
                    if (start.go_on)(id)?.is_break() {
                        return Ok(());
                    }
                    resumed = browser.suspend(None);
                    break;
                }
            }
            resumed = browser.suspend(Some(key));
            break;
        }
    }
}
