//! The request to redact: messages, kinds of secrets, and replacement text.

use std::collections::HashMap;

use lepo_base::error::{Error, Result, quoted};
use lepo_secrets::FoundSecret as Secret;
use lepo_store::bubb::BubbId;
use lepo_store::conv::AddressMatch;
use lepo_store::store::{MovedBubb, Store};
use serde::{Deserialize, Serialize};

use super::args::RmArgs;
use crate::commands::address_args::resolve_all;
use crate::commands::text_source::TextSource;

/// Stored until it is carried out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RedactRequest {
    /// Everything in the store.
    pub all: bool,
    ids: Vec<BubbId>,
    /// Only these kinds; all if empty.
    kinds: Vec<String>,
    replace: Vec<(BubbId, Vec<u8>)>,
}

impl RedactRequest {
    /// Builds the request from the options. Ids that were just replaced are mapped to their copies.
    pub fn from_args(args: &RmArgs, store: &Store, moved: &[MovedBubb]) -> Result<RedactRequest> {
        let forest = store.forest()?;
        let words: Vec<String> = args.addresses.iter().map(|word| with_new_ids(word, moved)).collect();
        words.iter().try_for_each(|word| check_own(store, word))?;
        let found = resolve_all(store, (&forest, true), &words)?;
        let mut ids: Vec<BubbId> =
            found.iter().flat_map(AddressMatch::bubbs).map(|ix| forest.name(*ix).id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut replace = Vec::new();
        for word in &args.replace {
            let parts =
                word.split_once('=').filter(|(address, file)| !address.is_empty() && !file.is_empty());
            let (address, file) = parts.ok_or_else(|| {
                Error::usage(format!("{} has no file", quoted(word))).hint("it is ADDR=FILE, or ADDR=-")
            })?;
            check_own(store, address)?;
            let found = resolve_all(store, (&forest, true), &[with_new_ids(address, moved)])?;
            let [AddressMatch::One(found)] = found.as_slice() else {
                return Err(Error::usage(format!(
                    "expected one message, but {} is a range",
                    quoted(address)
                )));
            };
            replace.push((
                forest.name(found.ix).id,
                TextSource::new(file)
                    .read_message("`lepo rebase --drop ADDR` copies a line without a message")?,
            ));
        }
        Ok(RedactRequest { all: args.all, ids, kinds: args.kind.clone(), replace })
    }

    pub fn is_empty(&self) -> bool {
        !self.all && self.ids.is_empty() && self.replace.is_empty()
    }

    /// Messages to redact, apart from those with replacement text.
    pub fn ids(&self) -> &[BubbId] {
        &self.ids
    }

    pub fn replacement(&self, id: BubbId) -> Option<&[u8]> {
        self.replace.iter().rev().find(|(replaced, _)| *replaced == id).map(|(_, words)| words.as_slice())
    }

    pub fn replaced(&self) -> Vec<BubbId> {
        self.replace.iter().map(|(id, _)| *id).collect()
    }

    pub fn follow(&mut self, moved: &[MovedBubb]) {
        let copies: HashMap<BubbId, BubbId> =
            moved.iter().map(|moved| (moved.from.id, moved.to.id)).collect();
        for id in self.ids.iter_mut().chain(self.replace.iter_mut().map(|(id, _)| id)) {
            *id = copies.get(id).copied().unwrap_or(*id);
        }
    }

    /// Whether a secret's kind is selected.
    pub fn selects(&self, secret: &Secret) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == secret.kind)
    }
}

/// Replaces old ids in an address by new ones.
fn with_new_ids(word: &str, moved: &[MovedBubb]) -> String {
    moved.iter().fold(word.to_string(), |word, MovedBubb { from, to }| {
        word.replace(&from.id.to_string(), &to.id.to_string())
    })
}

/// Rejects an address of another user's message.
fn check_own(store: &Store, word: &str) -> Result<()> {
    match store.peer_of_address(word) {
        Some(clone) => {
            Err(Error::usage(format!("{word} is a message of {clone}: only {clone} can change it"))
                .hint("it changes here once it has changed there and was synced"))
        }
        None => Ok(()),
    }
}
