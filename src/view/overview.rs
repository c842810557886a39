//! The facts of a conversation that lists show: its root, title and owner, its questions, its lengths.
//!
//! A list reads the texts it shows: each shows another part of them, and treats an unreadable one differently.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{ConvOutlines, Forest, Ix};
use lepo_store::store::Store;

/// The overviews of a forest's conversations. A trunk that they share is walked once, and titles are read on first use.
pub struct Overviews<'o> {
    store: &'o Store,
    forest: &'o Forest,
    titles: OnceLock<HashMap<BubbId, String>>,
    /// Locked, so that a list can read its rows on several threads.
    outlines: Mutex<ConvOutlines<'o>>,
}

#[derive(Clone, Copy)]
pub struct Overview<'o> {
    store: &'o Store,
    titles: &'o OnceLock<HashMap<BubbId, String>>,
    pub tail: BubbName,
    pub root: BubbId,
    /// The user who owns the tail's store, if it is not the current user.
    pub owner: Option<&'o str>,
    /// The first visible question.
    pub first: Option<BubbName>,
    /// The last visible question, which may be the first.
    pub last: Option<BubbName>,
    /// The number of messages, hidden ones too.
    pub messages: u32,
    /// The number of visible questions.
    pub questions: u32,
}

impl<'o> Overviews<'o> {
    pub fn new(store: &'o Store, forest: &'o Forest) -> Overviews<'o> {
        Overviews { store, forest, titles: OnceLock::new(), outlines: Mutex::new(forest.outlines()) }
    }

    /// Returns the overview of the conversation that ends with `tail`.
    pub fn overview(&self, tail: Ix) -> Overview<'_> {
        let outline = self.outlines.lock().unwrap_or_else(PoisonError::into_inner).value(tail);
        let (store, forest) = (self.store, self.forest);
        let owner = forest.store_of(tail).and_then(|number| store.peers().get(number));
        Overview {
            store,
            titles: &self.titles,
            tail: forest.name(tail),
            root: forest.name(outline.root).id,
            owner: owner.map(|(owner, _)| owner.as_str()),
            first: outline.first.map(|ix| forest.name(ix)),
            last: outline.last.map(|ix| forest.name(ix)),
            messages: outline.messages,
            questions: outline.questions,
        }
    }
}

impl<'o> Overview<'o> {
    /// Returns the title that the user, an import or another user gave the conversation.
    pub fn title(&self) -> Option<&'o str> {
        let titles = self.titles.get_or_init(|| self.store.titles());
        titles.get(&self.root).map(String::as_str)
    }

    /// Returns the first question, unless it is the last too.
    pub fn opening(&self) -> Option<BubbName> {
        self.first.filter(|first| self.last.is_none_or(|last| last.id != first.id))
    }
}
