//! Addresses as written on a command line or at a prompt, found in a store.

use super::Store;
use crate::conv::{Addressee, Forest, Found, Wanted, Word};
use lepo_base::error::{Error, Result};

impl Store {
    /// The part of the store to read for one address word.
    pub fn wanted_by(&self, word: &str) -> Result<Vec<Wanted>> {
        Word::parse(word)?.wanted(&|name| self.named(name))
    }

    /// The forest as far as `--retry` needs it: of a branch, also what was asked there since.
    pub fn forest_to_retry(&self, tail: Option<&str>) -> Result<Forest> {
        match tail.filter(|word| *word != "-").map(|word| self.branch(word)).transpose()?.flatten() {
            Some(place) => self.forest_for(&[Wanted::Since(place)]),
            None => self.forest_at(false, tail),
        }
    }

    /// The forest as far as the start of a turn needs it: the newest tail, the bubb of `--tail`, or neither.
    pub fn forest_at(&self, new: bool, tail: Option<&str>) -> Result<Forest> {
        self.forest_for(&match tail {
            Some(address) if address != "-" => self.wanted_by(address)?,
            _ if new => vec![Wanted::Tip],
            _ => vec![Wanted::Newest(1)],
        })
    }

    /// Finds what one address word points at.
    pub fn find_word(&self, forest: &Forest, word: &str) -> Result<Found> {
        Word::parse(word)?.resolve(forest, &|name| self.named(name))
    }

    /// Finds the one bubb of an address, where stdin is not for addresses.
    pub fn find_bubb(&self, forest: &Forest, word: &str) -> Result<Addressee> {
        if word == "-" {
            return Err(Error::usage("`-` is not an address here: stdin is the text"));
        }
        match self.find_word(forest, word)? {
            // A branch of another person's store does not move.
            Found::One(found) => {
                Ok(Addressee { by_branch: found.by_branch && self.branch(word)?.is_some(), ..found })
            }
            Found::Range(_) => Err(Error::usage(format!("one message is needed, and {word:?} is a range"))),
        }
    }
}
