//! The store that the connections of a proxy share, with the index of its paths.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::tree::{PathHash, RequestLayout, StoreIndex};
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::{Claim, Store};
use lepo_turn::{Masking, write_unproven_bubb};

/// Describes the source of a text for a notice about secrets.
const SOURCE: &str = "a request through the proxy";

/// A store with the masking of its texts.
pub struct ProxyStore {
    /// The store.
    pub store: &'static Store,
    /// The masking of written texts.
    pub masking: &'static Masking,
    index: Mutex<StoreIndex>,
}

impl ProxyStore {
    /// Leaks both, because spools of answers borrow them for as long as the process lives.
    pub fn new(store: Arc<Store>, masking: Arc<Masking>) -> ProxyStore {
        let store: &'static Arc<Store> = Box::leak(Box::new(store));
        let masking: &'static Arc<Masking> = Box::leak(Box::new(masking));
        ProxyStore { store, masking, index: Mutex::default() }
    }

    /// Locks the index, and with it the order in which messages are written.
    pub fn index(&self) -> MutexGuard<'_, StoreIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a text as it would be written, without counting its secrets.
    pub fn masked(&self, text: &str) -> String {
        self.masking.masked(text).into_owned()
    }

    /// Returns the hashes of the parts of a request as they would be written, and of its system text.
    pub fn hashes(&self, layout: &RequestLayout) -> (Vec<Option<PathHash>>, Option<PathHash>) {
        let parts = layout.parts.iter();
        let parts = parts.map(|part| PathHash::from_part(part.kind, &self.masked(&part.text))).collect();
        let system = layout.system.as_deref();
        (parts, system.map(|system| PathHash::from_system(&self.masked(system))))
    }

    /// Writes a message, durably.
    pub fn write(
        &self,
        tag: (Role, bool),
        prev: Option<BubbId>,
        not_before: u64,
        text: &str,
    ) -> Result<BubbName> {
        let kept = self.masking.screen(text.as_bytes(), SOURCE);
        write_unproven_bubb(self.store, tag, prev, not_before, &kept)
    }

    /// Marks a question as being answered, for other processes.
    pub fn mark_answering(&self, tip: Option<BubbId>) -> Option<Claim> {
        let mut index = self.index();
        let name = index.name(tip?).filter(|name| name.role == Role::User && !name.hidden)?;
        let was_known = index.is_current(self.store);
        let claim = self.store.mark_answering(name.id);
        index.note_own_change(self.store, was_known);
        claim
    }
}
