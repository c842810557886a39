//! Addresses as written on a command line or at a prompt, found in a store.

use super::Store;
use crate::conv::{Addressee, Forest, Found, Word};
use crate::error::{Error, Result};

impl Store {
    /// Finds what one address word points at.
    pub fn find_word(&self, forest: &Forest, word: &str) -> Result<Found> {
        Word::parse(word)?.resolve(forest, &|name| self.branch(name))
    }

    /// Finds the one bubb of an address, where stdin is not for addresses.
    pub fn find_bubb(&self, forest: &Forest, word: &str) -> Result<Addressee> {
        if word == "-" {
            return Err(Error::usage("`-` is no address here: stdin is the text"));
        }
        match self.find_word(forest, word)? {
            Found::One(found) => Ok(found),
            Found::Range(_) => Err(Error::usage(format!("one bubb is needed, and {word:?} is a range"))),
        }
    }
}
