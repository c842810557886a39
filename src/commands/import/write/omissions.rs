//! Messages that an import leaves out, with all that follow them: those that `rm` removed here or `lepo undo` took
//! back. A message in the store is never left out.

use std::collections::HashSet;

use crate::import::RemovedMessages;
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::{ImportChoices, Store};
use lepo_turn::config::Paths;

#[derive(Default)]
pub struct Omissions {
    choices: ImportChoices,
    removed: RemovedMessages,
    /// A hook or a watch imports.
    pub is_automatic: bool,
    /// The current conversation is imported only because an earlier import was told its directory.
    pub is_remembered: bool,
    /// The messages left out so far.
    gone: HashSet<BubbId>,
    /// Removed messages that an import by hand took again.
    pub brought_back: u64,
}

impl Omissions {
    pub fn read(store: Option<&Store>, is_automatic: bool) -> Result<Omissions> {
        let Some(store) = store else { return Ok(Omissions { is_automatic, ..Omissions::default() }) };
        let paths = Paths::from_env(&Env::from_process())?;
        let (choices, removed) = (store.journal().import_choices(), RemovedMessages::read(store, &paths)?);
        Ok(Omissions { choices, removed, is_automatic, ..Omissions::default() })
    }

    /// Whether to leave out a message that is not in the store.
    pub fn leaves_out(&mut self, store: &Store, name: &BubbName) -> bool {
        let is_removed = self.removed.has(store, name.id);
        let is_undone = self.choices.undone.contains(&name.id);
        let is_gone = name.prev.is_some_and(|prev| self.gone.contains(&prev))
            || (self.is_automatic && (is_removed || is_undone))
            || (self.is_remembered && is_undone);
        if is_gone {
            self.gone.insert(name.id);
        } else if is_removed {
            self.brought_back += 1;
        }
        is_gone
    }

    pub fn left_out(&self) -> u64 {
        self.gone.len() as u64
    }
}
