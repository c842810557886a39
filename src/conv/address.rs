//! One grammar for pointing at a bubb, one parser: `@`, an id or a unique piece of one, a branch, a
//! file, each with `^` and `~N` behind it. lepo(7) is its page.

use super::{Forest, Ix};
use crate::bubb::{BubbId, Name};
use crate::error::{Error, Result};

/// An address as written: where to begin, and how many bubbs to go back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    base: String,
    back: usize,
}

/// What an address led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addressee {
    /// The bubb.
    pub ix: Ix,
    /// It was named by a branch alone, with no steps back: that branch may move.
    pub by_branch: bool,
}

/// The fewest characters of an id that stand for it.
const SHORTEST: usize = 4;

impl Address {
    /// Reads `X`, `X^`, `X^^`, `X~3`, `X~3^`.
    pub fn parse(text: &str) -> Result<Address> {
        let mut base = text;
        let mut back = 0usize;
        while let Some((rest, steps)) = step(base) {
            back = back.saturating_add(steps);
            base = rest;
        }
        if base.is_empty() {
            return Err(Error::usage(format!("no bubb is named in address {text:?}"))
                .hint("@ is the newest tail; see lepo(7) for the other forms"));
        }
        Ok(Address { base: base.to_string(), back })
    }

    /// Finds the bubb. `branch` looks a branch up by its exact name.
    pub fn resolve(
        &self,
        forest: &Forest,
        branch: &dyn Fn(&str) -> Result<Option<BubbId>>,
    ) -> Result<Addressee> {
        let (mut ix, by_branch) = self.base(forest, branch)?;
        for done in 0..self.back {
            ix = forest.prev(ix).ok_or_else(|| {
                Error::usage(format!(
                    "{} has no bubb {} back: its conv ends after {done}",
                    self.base, self.back
                ))
            })?;
        }
        Ok(Addressee { ix, by_branch: by_branch && self.back == 0 })
    }

    fn base(&self, forest: &Forest, branch: &dyn Fn(&str) -> Result<Option<BubbId>>) -> Result<(Ix, bool)> {
        let text = self.base.as_str();
        if text == "@" {
            let newest = forest.newest().ok_or_else(|| {
                Error::usage("@ names nothing: the store has no bubbs")
                    .hint("ask something first: lepo do QUESTION")
            })?;
            return Ok((newest, false));
        }
        if let Some(name) = file_name(text) {
            let found = Name::parse(name.as_bytes()).and_then(|name| forest.find(name.id));
            let found =
                found.ok_or_else(|| Error::usage(format!("no bubb of this store is the file {text}")))?;
            return Ok((found, false));
        }
        if let Some(id) = branch(text)? {
            let found = forest.find(id).ok_or_else(|| {
                Error::usage(format!("branch {text} names {id}, which is not in the store"))
            })?;
            return Ok((found, true));
        }
        match matches(forest, text)[..] {
            [ix] => Ok((ix, false)),
            [] => Err(not_found(text)),
            ref several => Err(ambiguous(forest, text, several)),
        }
    }
}

/// Takes one `^` or `~N` off the end.
fn step(text: &str) -> Option<(&str, usize)> {
    if let Some(rest) = text.strip_suffix('^') {
        return Some((rest, 1));
    }
    let (rest, digits) = text.rsplit_once('~')?;
    match digits {
        "" => Some((rest, 1)),
        _ if digits.bytes().all(|b| b.is_ascii_digit()) => Some((rest, digits.parse().unwrap_or(usize::MAX))),
        _ => None,
    }
}

/// The last component, if the text is a path: it has a slash, or it ends as a bubb's file does.
fn file_name(text: &str) -> Option<&str> {
    match text.rsplit_once('/') {
        Some((_, name)) => Some(name),
        None => text.ends_with(".md").then_some(text),
    }
}

/// Those whose id is `text`, begins with it, or ends with it.
fn matches(forest: &Forest, text: &str) -> Vec<Ix> {
    let length = text.len();
    if !(SHORTEST..=BubbId::LEN).contains(&length) {
        return Vec::new();
    }
    // Padded with zeros to 26 digits the piece is read by the one reader of ids; then digits are compared as bits.
    let pad = BubbId::LEN - length;
    let Some(piece) = BubbId::parse(format!("{}{text}", "0".repeat(pad)).as_bytes()) else {
        return Vec::new();
    };
    let piece = piece.number();
    let mask = if length == BubbId::LEN { u128::MAX } else { (1 << (5 * length)) - 1 };
    forest
        .all()
        .filter(|&ix| {
            let id = forest.name(ix).id.number();
            id >> (5 * pad) == piece || id & mask == piece
        })
        .collect()
}

fn not_found(text: &str) -> Error {
    let error = Error::usage(format!("no bubb, branch or file is {text:?}"));
    if text.len() < SHORTEST {
        error.hint(format!("a piece of an id needs at least {SHORTEST} characters"))
    } else {
        error.hint("`lepo ls` lists the tails; @ is the newest")
    }
}

fn ambiguous(forest: &Forest, text: &str, several: &[Ix]) -> Error {
    const SHOWN: usize = 10;
    let mut message = format!("{text} begins or ends the ids of {} bubbs:", several.len());
    for &ix in several.iter().rev().take(SHOWN) {
        message.push_str(&format!("\n  {} {}", forest.name(ix).id, forest.name(ix).tag()));
    }
    if several.len() > SHOWN {
        message.push_str(&format!("\n  … and {} older ones", several.len() - SHOWN));
    }
    Error::usage(message).hint("give more characters; the end of an id tells more than its beginning")
}

#[cfg(test)]
#[allow(clippy::string_slice)]
mod tests {
    use super::super::fixture::{self, id};
    use super::*;

    const STORE: &str = "A s1 head / B u0 A / C a0 B / D a0 B";

    fn resolve(text: &str) -> Result<(String, bool)> {
        let forest = fixture::forest(STORE);
        let branch = |name: &str| {
            Ok(match name {
                "main" => Some(id("C")),
                "Y3ZB" => Some(id("A")),
                "gone" => Some(id("H")),
                _ => None,
            })
        };
        let found = Address::parse(text)?.resolve(&forest, &branch)?;
        Ok((fixture::letters(&forest, &[found.ix]), found.by_branch))
    }

    #[test]
    fn every_form_finds_its_bubb() {
        let b = id("B").to_string();
        for (text, letter, by_branch) in [
            ("@", "D", false),
            ("@^", "B", false),
            ("@~", "B", false),
            ("@~2", "A", false),
            ("@^^", "A", false),
            ("@~1^", "A", false),
            ("@~0", "D", false),
            (&b, "B", false),
            (&b.to_lowercase(), "B", false),
            (&b[..14], "B", false),
            (&b[10..], "B", false),
            (&b[20..].to_lowercase(), "B", false),
            ("main", "C", true),
            ("main^", "B", false),
            // an exact branch name wins over a piece of an id
            ("Y3ZB", "A", true),
            (&format!(".lepo/{b}-u0-{}.md", id("A")), "B", false),
            (&format!("{b}-u0-{}.md~1", id("A")), "A", false),
        ] {
            assert_eq!(resolve(text).unwrap(), (letter.to_string(), by_branch), "{text}");
        }
    }

    #[test]
    fn what_names_nothing_says_what_was_looked_for() {
        for (text, words) in [
            ("", "no bubb is named"),
            ("^", "no bubb is named"),
            ("abc", "no bubb, branch or file is \"abc\""),
            ("nobody", "no bubb, branch or file is \"nobody\""),
            ("@~3", "@ has no bubb 3 back: its conv ends after 2"),
            ("@~99999999999999999999999", "has no bubb"),
            ("gone", "branch gone names"),
            ("./README.md", "the file ./README.md"),
            ("한글이에요", "no bubb, branch or file"),
        ] {
            let error = resolve(text).unwrap_err();
            assert!(error.message.contains(words), "{text}: {error}");
            assert_eq!(error.kind.exit_code(), 2);
        }
    }

    #[test]
    fn two_matches_are_listed() {
        let error = resolve("01JB3Z0Q4").unwrap_err();
        assert!(error.message.contains("4 bubbs"), "{error}");
        for letter in ["A", "B", "C", "D"] {
            assert!(error.message.contains(&id(letter).to_string()), "{error}");
        }
    }
}
