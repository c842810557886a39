//! Resolves the address arguments of a command line to bubbs. `-` reads addresses from stdin, one per line,
//! so that every command accepts the output of `grep -l`, `cut` and lepo.

use std::io::Read;

use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbId;
use lepo_store::conv::{AddressMatch, AddressTarget, Forest, Ix, ReadScope};
use lepo_store::store::Store;

/// Resolves every argument before anything is done, in a forest that contains only those bubbs and `also`.
pub fn find_all(store: &Store, words: &[String], also: &[ReadScope]) -> Result<(Forest, Vec<AddressMatch>)> {
    let words = require_any(words, with_stdin(words)?)?;
    let mut wanted = also.to_vec();
    for word in &words {
        wanted.extend(store.address_scopes(word)?);
    }
    let forest = store.forest_for(&wanted)?;
    let found = words.iter().map(|word| store.find_address(&forest, word)).collect::<Result<_>>()?;
    Ok((forest, found))
}

/// An error if stdin was requested and empty: a previous command in the pipe may have failed.
pub fn require_any<T>(asked: &[String], found: Vec<T>) -> Result<Vec<T>> {
    match found.is_empty() && asked.iter().any(|word| word == "-") {
        true => Err(Error::nothing("no address came on stdin")),
        false => Ok(found),
    }
}

pub fn find_one(store: &Store, word: &str, also: &[ReadScope]) -> Result<(Forest, AddressTarget)> {
    let (forest, found) = find_all(store, &[word.to_string()], also)?;
    Ok((forest, exactly_one(word, &found)?))
}

/// Resolves an address in a forest that contains all bubbs.
pub fn find_in(store: &Store, forest: &Forest, address: &str) -> Result<Ix> {
    let (found_in, found) = find_one(store, address, &[])?;
    let id = found_in.name(found.ix).id;
    forest.find(id).ok_or_else(|| Error::nothing(format!("message {id} no longer exists")))
}

/// Resolves arguments in a forest that was already read. If it is partial, also checks that the folders that
/// an address may refer to are readable.
pub fn resolve_all(
    store: &Store,
    (forest, is_whole): (&Forest, bool),
    words: &[String],
) -> Result<Vec<AddressMatch>> {
    let words = with_stdin(words)?;
    if !is_whole {
        for word in &words {
            store.forest_for(&store.address_scopes(word)?)?;
        }
    }
    words.iter().map(|word| store.find_address(forest, word)).collect()
}

fn exactly_one(word: &str, found: &[AddressMatch]) -> Result<AddressTarget> {
    match found {
        [AddressMatch::One(found)] => Ok(*found),
        [AddressMatch::Range(_)] => {
            Err(Error::usage(format!("expected one message, but {word:?} is a range")))
        }
        several => Err(Error::usage(format!("expected one message, but {} came on stdin", several.len()))),
    }
}

/// Replaces each `-` with the lines of stdin.
fn with_stdin(words: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for word in words {
        if word == "-" {
            let text = stdin()?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            all.extend(lines.map(|line| address_of(line).to_string()));
        } else {
            all.push(word.clone());
        }
    }
    Ok(all)
}

/// Returns the address in a line: the id of a line that begins with one, as in the output of `ls`, `log` and
/// `grep`; else the whole line.
fn address_of(line: &str) -> &str {
    match line.split_once(' ') {
        Some((first, _)) if BubbId::parse(first.as_bytes()).is_some() => first,
        _ => line,
    }
}

/// Reads stdin. A path may not be UTF-8: only its file name identifies the bubb.
fn stdin() -> Result<String> {
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut text)
        .map_err(|error| Error::usage("cannot read addresses from stdin").because(error))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
