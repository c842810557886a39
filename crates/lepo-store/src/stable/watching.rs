//! Yields messages when they are written.

use std::time::Duration;

use super::failure::{Failure, failed};
use super::message::{Message, read};
use crate::store::{Store, StoreWatch};

/// A watch on a store, which ends when this is dropped.
///
/// ```
/// use std::time::Duration;
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = lepo_store::Conversations::create(&dir.path().join(".lepo")).unwrap();
/// let mut watching = store.watch().unwrap();
/// assert!(watching.next(Duration::ZERO).unwrap().is_none(), "nobody writes");
/// ```
pub struct Watching<'c> {
    store: &'c Store,
    watch: StoreWatch<'c>,
}

impl<'c> Watching<'c> {
    pub(super) fn new(store: &'c Store) -> Result<Watching<'c>, Failure> {
        let watch = failed(StoreWatch::start(store, None))?;
        Ok(Watching { store, watch })
    }

    /// Returns the next message of the store itself; `None` if no message is written within `patience`.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use lepo_store::{Conversations, NewMessage, Speaker};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Conversations::create(&dir.path().join(".lepo")).unwrap();
    /// let mut watching = store.watch().unwrap();
    /// store.append(&NewMessage::root(Speaker::User, b"why?")).unwrap();
    /// assert!(watching.next(Duration::from_secs(60)).unwrap().is_some());
    /// ```
    pub fn next(&mut self, patience: Duration) -> Result<Option<Message>, Failure> {
        loop {
            match failed(self.watch.next(patience))? {
                // A message of another user's store.
                Some(seen) if seen.from.is_some() => {}
                Some(seen) => return read(self.store, &seen.name).map(Some),
                None => return Ok(None),
            }
        }
    }
}
