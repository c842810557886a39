//! Completes an address on a command line or at a prompt.
//!
//! Only names are read; a caller that displays a candidate reads the bubb for its preview.

use super::handle::Store;
use crate::bubb::{BubbId, BubbName};
use crate::conv::{Forest, Ix, ReadScope, TailScope, ids_beginning};
use lepo_base::error::Result;

/// A completion of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressCompletion {
    /// The whole address: `@`, a branch, an id.
    pub word: String,
    /// The bubb to preview.
    pub about: Option<BubbName>,
    /// Whether `about` is the bubb addressed rather than the last question before it.
    pub itself: bool,
}

#[doc(hidden)]
impl Store {
    /// Returns `@` if `begun` is empty, branches, and ids: of tails, or of any bubbs if no tail has the prefix.
    /// Newest first, and at most `most` ids.
    pub fn address_completions(&self, begun: &str, most: usize) -> Result<Vec<AddressCompletion>> {
        if let Some((clone, rest)) = begun.split_once('/')
            && let Some((_, store)) = self.peers().iter().find(|(name, _)| name == clone)
        {
            let offers = store.address_completions(rest, most)?.into_iter();
            return Ok(offers
                .map(|offer| AddressCompletion { word: format!("{clone}/{}", offer.word), ..offer })
                .collect());
        }
        let branches = self.branches_beginning(begun)?;
        let own = self.own_newest()?;
        let own_path = ReadScope::Ids(own.into_iter().collect());
        // Without a prefix, `@` is offered too.
        let tails = TailScope { count: most, tip: begun.is_empty(), ..TailScope::default() };
        let within = ids_beginning(&begun.to_ascii_uppercase());
        let tails = within.map(|within| ReadScope::Tails(TailScope { within: Some(within), ..tails }));
        let wanted: Vec<ReadScope> = tails.into_iter().chain([paths(&branches), own_path]).collect();
        let forest = &self.forest_for(&wanted)?;
        let newest = own.and_then(|own| forest.find(own)).or_else(|| forest.newest());
        let newest = newest.filter(|_| begun.is_empty());
        let mut offers: Vec<AddressCompletion> =
            newest.map(|ix| question(forest, "@".into(), ix)).into_iter().collect();
        offers.extend(branches.into_iter().map(|branch| branch_offer(forest, branch)));
        let before = offers.len();
        let id = |ix: Ix| forest.name(ix).id.to_string();
        let tails = forest.newest_first(false).filter(|&ix| begins(&id(ix), begun)).take(most);
        offers.extend(tails.map(|ix| question(forest, id(ix), ix)));
        if offers.len() == before {
            let all = forest.all().rev().filter(|&ix| begins(&id(ix), begun)).take(most);
            let itself = |ix| AddressCompletion { word: id(ix), about: Some(forest.name(ix)), itself: true };
            offers.extend(all.map(itself));
        }
        for (clone, store) in self.peers().iter().filter(|(clone, _)| clone.starts_with(begun)) {
            let forest = store.forest_for(&[ReadScope::Tip])?;
            offers.extend(forest.newest().map(|ix| question(&forest, format!("{clone}/@"), ix)));
        }
        Ok(offers)
    }

    /// Returns the branches whose names start with `begun`.
    pub fn branch_completions(&self, begun: &str) -> Result<Vec<AddressCompletion>> {
        let branches = self.branches_beginning(begun)?;
        let forest = self.forest_for(&[paths(&branches)])?;
        Ok(branches.into_iter().map(|branch| branch_offer(&forest, branch)).collect())
    }

    fn branches_beginning(&self, begun: &str) -> Result<Vec<(String, BubbId)>> {
        let mut branches = self.branches()?;
        branches.retain(|(name, _)| name.starts_with(begun));
        Ok(branches)
    }
}

fn paths(branches: &[(String, BubbId)]) -> ReadScope {
    ReadScope::Ids(branches.iter().map(|(_, id)| *id).collect())
}

fn branch_offer(forest: &Forest, (name, id): (String, BubbId)) -> AddressCompletion {
    match forest.find(id) {
        Some(ix) => question(forest, name, ix),
        None => AddressCompletion { word: name, about: None, itself: false },
    }
}

fn question(forest: &Forest, word: String, ix: Ix) -> AddressCompletion {
    AddressCompletion { word, about: forest.last_question(ix).map(|ix| forest.name(ix)), itself: false }
}

/// Ids are case-insensitive.
fn begins(text: &str, begun: &str) -> bool {
    text.get(..begun.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(begun))
}
