//! The address words of a command line as bubbs. `-` stands for words on stdin, one a line, so that
//! every command takes what `grep -l`, `cut` and lepo itself print.

use std::io::Read;

use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbId;
use lepo_store::conv::{Addressee, Forest, Found, Wanted};
use lepo_store::store::Store;

/// Finds what each word points at, all of them before anything is done, in a forest that has no more than that
/// and what else is wanted.
pub fn find_all(store: &Store, words: &[String], also: &[Wanted]) -> Result<(Forest, Vec<Found>)> {
    let words = some(words, with_stdin(words)?)?;
    let mut wanted = also.to_vec();
    for word in &words {
        wanted.extend(store.addresses().wanted_by(word)?);
    }
    let forest = store.names().forest_for(&wanted)?;
    let found = words.iter().map(|word| store.addresses().find(&forest, word)).collect::<Result<_>>()?;
    Ok((forest, found))
}

/// The words, unless stdin was to have some and had none: a command before it in a pipe may have failed.
pub fn some<T>(asked: &[String], found: Vec<T>) -> Result<Vec<T>> {
    match found.is_empty() && asked.iter().any(|word| word == "-") {
        true => Err(Error::nothing("no address came on stdin")),
        false => Ok(found),
    }
}

/// Finds the bubb where a command needs exactly one.
pub fn find_one(store: &Store, word: &str, also: &[Wanted]) -> Result<(Forest, Addressee)> {
    let (forest, found) = find_all(store, &[word.to_string()], also)?;
    Ok((forest, exactly_one(word, &found)?))
}

/// Finds what each word points at in a forest that was read, whole or not. A folder that a word may lie in has to be
/// readable.
pub fn resolve_all(
    store: &Store,
    (forest, is_whole): (&Forest, bool),
    words: &[String],
) -> Result<Vec<Found>> {
    let words = with_stdin(words)?;
    if !is_whole {
        for word in &words {
            store.names().forest_for(&store.addresses().wanted_by(word)?)?;
        }
    }
    words.iter().map(|word| store.addresses().find(forest, word)).collect()
}

fn exactly_one(word: &str, found: &[Found]) -> Result<Addressee> {
    match found {
        [Found::One(found)] => Ok(*found),
        [Found::Range(_)] => Err(Error::usage(format!("expected one message, but {word:?} is a range"))),
        several => Err(Error::usage(format!("expected one message, but {} came on stdin", several.len()))),
    }
}

/// The words, with those of stdin in the place of `-`.
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

/// The address in a line: all of it, or of a line that begins with a full id and goes on, as those of `ls`, `log` and
/// `grep` do, the id.
fn address_of(line: &str) -> &str {
    match line.split_once(' ') {
        Some((first, _)) if BubbId::parse(first.as_bytes()).is_some() => first,
        _ => line,
    }
}

/// The text on stdin. A path may be no text: only the name of the file in it says which bubb is meant.
fn stdin() -> Result<String> {
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut text)
        .map_err(|error| Error::usage("cannot read addresses from stdin").because(error))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
