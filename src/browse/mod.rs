//! The forest on the whole terminal, read-only: conversations at the left, one of them at the right.
//!
//! Only what is on the screen is read: a row's question when the row is shown, a message when it is.

mod browser;
mod compare;
mod draw;
mod keys;
mod reading;
mod rows;
mod wrap;

use crate::bubb::BubbId;
use crate::conv::Forest;
use crate::error::Result;
use crate::store::Store;
use crate::term::FullScreen;
use browser::{Browser, Next};

/// Browses until the user leaves; gives the conversation to go on with, if that was wished.
pub fn browse(store: &Store, forest: &Forest, colours: bool) -> Result<Option<BubbId>> {
    let facts = store.fact_index();
    let mut browser = Browser::new(store, forest, &facts, colours)?;
    let mut screen = FullScreen::open()?;
    loop {
        screen.draw(|frame| draw::draw(&mut browser, frame))?;
        match browser.press(screen.press()?) {
            Next::Stay => {}
            Next::Copy(text) => screen.copy(&text),
            Next::Leave => return Ok(None),
            Next::GoOn(id) => return Ok(Some(id)),
        }
    }
}
