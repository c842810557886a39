//! How an address that was begun may end: what completion offers, on a command line and at a prompt.
//!
//! Names alone are read; whoever shows an offer reads the one bubb that tells what it is about.

use super::Store;
use crate::bubb::Name;
use crate::conv::{Forest, Ix};

/// One way to end an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The whole address: `@`, a branch, an id.
    pub word: String,
    /// The bubb that tells what it is about.
    pub about: Option<Name>,
    /// That is the bubb it names, and not the last question before it.
    pub itself: bool,
}

impl Store {
    /// `@` where nothing was begun, branches, and ids: of tails, or where none begins so, of any bubb;
    /// newest first, and of ids at most so many.
    pub fn offers(&self, forest: &Forest, begun: &str, most: usize) -> Vec<Offer> {
        let newest = forest.newest().filter(|_| begun.is_empty());
        let mut offers: Vec<Offer> = newest.map(|ix| question(forest, "@".into(), ix)).into_iter().collect();
        offers.extend(self.branch_offers(forest, begun));
        let before = offers.len();
        let id = |ix: Ix| forest.name(ix).id.to_string();
        let tails = forest.newest_first(false).filter(|&ix| begins(&id(ix), begun)).take(most);
        offers.extend(tails.map(|ix| question(forest, id(ix), ix)));
        if offers.len() == before {
            let all = forest.all().rev().filter(|&ix| begins(&id(ix), begun)).take(most);
            let itself = |ix| Offer { word: id(ix), about: Some(forest.name(ix)), itself: true };
            offers.extend(all.map(itself));
        }
        offers
    }

    /// Branches whose names begin so.
    pub fn branch_offers(&self, forest: &Forest, begun: &str) -> Vec<Offer> {
        let branches = self.branches().unwrap_or_default().into_iter();
        let named = branches.filter(|(name, _)| name.starts_with(begun));
        let told = named.map(|(name, id)| match forest.find(id) {
            Some(ix) => question(forest, name, ix),
            None => Offer { word: name, about: None, itself: false },
        });
        told.collect()
    }
}

fn question(forest: &Forest, word: String, ix: Ix) -> Offer {
    Offer { word, about: forest.last_question(ix).map(|ix| forest.name(ix)), itself: false }
}

/// Ids are read in any case.
fn begins(text: &str, begun: &str) -> bool {
    text.get(..begun.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(begun))
}
