//! Resolves addresses from a command line or a prompt in a store.

use std::sync::PoisonError;

use super::handle::Store;
use crate::bubb::BubbId;
use crate::conv::{AddressMatch, AddressSpec, AddressTarget, Forest, ReadScope};
use lepo_base::error::{Error, Result};

#[doc(hidden)]
impl Store {
    /// Returns the parts of the store to read for an address.
    pub fn address_scopes(&self, word: &str) -> Result<Vec<ReadScope>> {
        self.parse_address(word, None)?.read_scopes(&|name| self.named_bubb(name))
    }

    /// Loads as much of the forest as `--retry` needs; for a branch, also later questions there.
    pub fn forest_to_retry(&self, tail: Option<&str>) -> Result<Forest> {
        match tail.filter(|word| *word != "-").map(|word| self.branch(word)).transpose()?.flatten() {
            Some(id) => self.forest_for(&[ReadScope::Since { id, judged: false }]),
            None => self.forest_at(false, tail),
        }
    }

    /// Loads as much of the forest as a turn needs: the path to the bubb of `--tail`, else to the newest tail; for a `new`
    /// conversation, only that tail itself.
    pub fn forest_at(&self, new: bool, tail: Option<&str>) -> Result<Forest> {
        self.forest_for(&match tail {
            Some(address) if address != "-" => self.address_scopes(address)?,
            _ if new => vec![ReadScope::Tip],
            _ => vec![ReadScope::newest(1)],
        })
    }

    /// Loads as much of the forest as a message after `prev` needs; without `prev`, after the newest.
    pub fn forest_to_append(&self, prev: Option<&str>) -> Result<Forest> {
        match prev {
            None | Some("@") if self.own_newest()?.is_none() => self.forest_for(&[ReadScope::Tip]),
            address => self.forest_at(false, address.or(Some("@"))),
        }
    }

    pub fn find_address(&self, forest: &Forest, word: &str) -> Result<AddressMatch> {
        self.parse_address(word, Some(forest))?.resolve(forest, &|name| self.named_bubb(name))
    }

    /// Parses an address. `@` becomes the newest message of this worktree if several share the store. If that is newer
    /// than `forest`, takes the one for which the forest was read.
    fn parse_address(&self, word: &str, forest: Option<&Forest>) -> Result<AddressSpec> {
        let address = AddressSpec::parse(word)?;
        if !address.has_newest() {
            return Ok(address);
        }
        let own = self.own_newest()?;
        let mut last = self.last_own.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = |id: &BubbId| forest.is_none_or(|forest| forest.find(*id).is_some());
        *last = own.filter(is_there).or(last.filter(is_there)).or(own);
        Ok(last.map_or(address.clone(), |own| address.with_newest(own)))
    }

    /// Resolves an address to a single bubb, where stdin is not read for addresses.
    pub fn find_bubb(&self, forest: &Forest, word: &str) -> Result<AddressTarget> {
        if word == "-" {
            return Err(Error::usage("`-` is not an address here: stdin is the text"));
        }
        match self.find_address(forest, word)? {
            // A branch of another user's store never moves.
            AddressMatch::One(found) => {
                Ok(AddressTarget { by_branch: found.by_branch && self.branch(word)?.is_some(), ..found })
            }
            AddressMatch::Range(_) => {
                Err(Error::usage(format!("expected one message, but {word:?} is a range")))
            }
        }
    }

    /// Returns the id of a branch, or of an address `NAME/ADDRESS` in another user's store.
    pub(super) fn named_bubb(&self, word: &str) -> Result<Option<BubbId>> {
        if let Some(id) = self.branch(word)? {
            return Ok(Some(id));
        }
        let Some((clone, rest)) = word.split_once('/') else { return Ok(None) };
        let peers = self.peers();
        let Some((_, store)) = peers.iter().find(|(name, _)| name == clone) else {
            let names: Vec<&str> = peers.iter().map(|(name, _)| name.as_str()).collect();
            let is_file = |word: &str| word.rsplit('/').next().is_some_and(|last| last.contains('.'));
            let is_path = clone.is_empty() || clone.starts_with('.') || is_file(rest);
            return match names.is_empty() || is_path {
                true => Ok(None),
                false => Err(Error::usage(format!("no branch {word}, and no clone is named {clone}"))
                    .hint(format!("clones: {}", names.join(", ")))),
            };
        };
        let forest = store.forest_for(&store.address_scopes(rest)?)?;
        let found = store.find_bubb(&forest, rest)?;
        Ok(Some(forest.name(found.ix).id))
    }

    /// Returns the name of the other user's store into which an address `NAME/ADDRESS` leads.
    pub fn peer_of_address(&self, word: &str) -> Option<&str> {
        let (clone, _) = word.split_once('/').filter(|_| !matches!(self.branch(word), Ok(Some(_))))?;
        self.peers().iter().map(|(name, _)| name.as_str()).find(|name| *name == clone)
    }
}
