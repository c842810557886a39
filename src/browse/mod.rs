//! Browses the forest on the full terminal, read-only: conversations on the left, one of them on the right.
//!
//! Reads only what is visible: a row's question when the row is drawn, a message when it is.

mod browser;
mod compare;
mod draw;
mod keys;
mod message_pane;
mod rows;

use crate::term::FullScreen;
use browser::{Browser, BrowserState, ScreenStep};
use lepo_base::error::Result;
use lepo_store::bubb::BubbId;
use lepo_store::conv::ReadScope;
use lepo_store::store::Store;

/// Conversations to read at first, and the factor for each further read.
const FIRST: usize = 256;
const TIMES: usize = 16;

/// Browses until the user leaves; returns the conversation to continue, if the user chose one.
///
/// Reads the newest conversations at first, and older ones once a key needs them.
pub fn browse(store: &Store, colours: bool) -> Result<Option<BubbId>> {
    let facts = store.journal().index();
    let (mut limit, mut resumed) =
        (store.others().all().is_empty().then_some(FIRST), BrowserState::default());
    let mut screen = None;
    loop {
        let forest = store.names().forest_for(&[limit.map_or(ReadScope::Everyone, ReadScope::Newest)])?;
        let mut browser = Browser::new(store, &forest, &facts, colours, limit)?;
        let mut press = browser.resume(resumed);
        let screen = match &mut screen {
            Some(screen) => screen,
            None => screen.insert(FullScreen::open()?),
        };
        loop {
            let key = match press.take() {
                Some(key) => key,
                None => {
                    screen.draw(|frame| draw::draw(&mut browser, frame))?;
                    screen.press()?
                }
            };
            match browser.press(key) {
                ScreenStep::Stay => {}
                ScreenStep::Copy(text) => screen.copy(&text),
                ScreenStep::Leave => return Ok(None),
                ScreenStep::GoOn(id) => return Ok(Some(id)),
                ScreenStep::ReadOlder => {
                    limit = limit.map(|limit| limit * TIMES);
                    resumed = browser.suspend(key);
                    break;
                }
                ScreenStep::ReadAll => {
                    limit = None;
                    resumed = browser.suspend(key);
                    break;
                }
            }
        }
    }
}
