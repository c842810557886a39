//! The address words of a command line as bubbs. `-` stands for words on stdin, one a line, so that
//! every command takes what `grep -l`, `cut` and lepo itself print.

use std::io::Read;

use crate::conv::{Addressee, Forest, Found};
use crate::error::{Error, Result};
use crate::store::Store;

/// Finds what each word points at, all of them before anything is done.
pub fn resolve_all(store: &Store, forest: &Forest, words: &[String]) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for word in words {
        if word == "-" {
            for line in stdin()?.lines().map(str::trim).filter(|line| !line.is_empty()) {
                found.push(store.find_word(forest, line)?);
            }
        } else {
            found.push(store.find_word(forest, word)?);
        }
    }
    Ok(found)
}

/// Finds the bubb where a command needs exactly one.
pub fn resolve_one(store: &Store, forest: &Forest, word: &str) -> Result<Addressee> {
    match resolve_all(store, forest, &[word.to_string()])?[..] {
        [Found::One(found)] => Ok(found),
        [Found::Range(_)] => Err(Error::usage(format!("one bubb is needed, and {word:?} is a range"))),
        ref several => Err(Error::usage(format!("one bubb is needed, and {} came on stdin", several.len()))),
    }
}

fn stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|error| Error::usage("cannot read addresses from stdin").because(error))?;
    Ok(text)
}
