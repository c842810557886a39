//! The grammar and the parser of addresses: `@`, an id or a unique part of one, a branch or a file, each optionally
//! followed by `^` and `~N`; and `A..B` for a range. Documented in lepo(7).

use super::{Forest, Ix, ids_beginning};
use crate::bubb::{BubbId, BubbName};
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand};

/// A parsed address: a starting point, and how many visible bubbs to go back from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(super) base: String,
    back: usize,
}

/// The bubb that an address resolves to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressTarget {
    pub ix: Ix,
    /// Whether the address is a branch alone, without steps back: only then may that branch move.
    pub by_branch: bool,
}

/// An argument that may address several bubbs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressSpec {
    One(Address),
    /// `A..B`: the bubbs in the conv of B that are not in the conv of A.
    Range(Address, Address),
}

/// The bubbs that an argument resolves to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressMatch {
    One(AddressTarget),
    /// The bubbs of a range, oldest first.
    Range(Vec<Ix>),
}

/// Looks up a branch by its exact name.
pub type BranchLookup<'b> = dyn Fn(&str) -> Result<Option<BubbId>> + 'b;

/// Fewest characters that can abbreviate an id.
pub const SHORTEST: usize = 4;

impl AddressSpec {
    pub fn parse(text: &str) -> Result<AddressSpec> {
        let Some((from, to)) = split_range(text) else { return Ok(AddressSpec::One(Address::parse(text)?)) };
        if from.is_empty() {
            return Err(Error::usage(format!("range {text:?} is missing its beginning"))
                .hint("a range is A..B, or A.. up to the newest message"));
        }
        let to = if to.is_empty() { "@" } else { to };
        Ok(AddressSpec::Range(Address::parse(from)?, Address::parse(to)?))
    }

    pub fn resolve(&self, forest: &Forest, branch: &BranchLookup<'_>) -> Result<AddressMatch> {
        Ok(match self {
            AddressSpec::One(address) => AddressMatch::One(address.resolve(forest, branch)?),
            AddressSpec::Range(from, to) => {
                let (from, to) = (from.resolve(forest, branch)?.ix, to.resolve(forest, branch)?.ix);
                AddressMatch::Range(forest.beyond(from, to))
            }
        })
    }
}

impl AddressMatch {
    pub fn bubbs(&self) -> &[Ix] {
        match self {
            AddressMatch::One(found) => std::slice::from_ref(&found.ix),
            AddressMatch::Range(bubbs) => bubbs,
        }
    }
}

impl Address {
    /// Parses `X`, `X^`, `X^^`, `X~3`, `X~3^`.
    pub fn parse(text: &str) -> Result<Address> {
        let (base, back) = strip_steps(text);
        if base.is_empty() {
            return Err(Error::usage(format!("address {text:?} names no message"))
                .hint("@ is the newest message; see lepo(7) for the other forms"));
        }
        Ok(Address { base: base.to_string(), back })
    }

    pub fn resolve(&self, forest: &Forest, branch: &BranchLookup<'_>) -> Result<AddressTarget> {
        let (mut ix, by_branch) = self.base(forest, branch)?;
        for done in 0..self.back.min(forest.len() + 1) {
            let before = forest.prev(ix).and_then(|prev| forest.nearest_visible(prev));
            ix = before.ok_or_else(|| {
                Error::usage(format!(
                    "no visible message {} before {}: its conversation has {done} before it",
                    self.back, self.base
                ))
            })?;
        }
        Ok(AddressTarget { ix, by_branch: by_branch && self.back == 0 })
    }

    fn base(&self, forest: &Forest, branch: &BranchLookup<'_>) -> Result<(Ix, bool)> {
        let text = self.base.as_str();
        if text == "@" {
            let newest = forest.newest().ok_or_else(|| {
                Error::usage("@ names nothing: the store has no messages")
                    .hint(Hint::from("ask something first: ").bare(HintCommand::Ask))
            })?;
            return Ok((newest, false));
        }
        let of_a_branch = if text.contains('/') { branch(text)? } else { None };
        // Without a dot it is the name of a branch or of a clone.
        let is_file = |name: &&str| of_a_branch.is_none() && name.contains('.');
        if let Some(name) = file_name(text).filter(is_file) {
            // If two files have the same id, only one of them is in the forest; the other must not resolve to it.
            let named = BubbName::parse(name.as_bytes());
            let found = named.and_then(|name| forest.find(name.id).filter(|&ix| forest.name(ix) == name));
            let found = found
                .ok_or_else(|| Error::usage(format!("the file {text} is not a message of this store")))
                .map_err(|error| {
                    error.hint(
                        "`lepo show --paths` prints the files of a conversation, `lepo branch` the branches",
                    )
                })?;
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

/// Splits `A..B` at the first `..` that is not part of a path: neither a component (`../.lepo/X.md`) nor inside a
/// directory's name (`./a..b/X.md`) followed by a file.
fn split_range(text: &str) -> Option<(&str, &str)> {
    text.match_indices("..").find_map(|(at, dots)| {
        let (from, to) = (text.get(..at)?, text.get(at + dots.len()..)?);
        let component = (from.is_empty() || from.ends_with('/')) && (to.is_empty() || to.starts_with('/'));
        let file_follows = strip_steps(to).0.ends_with(".md");
        let directory = from.contains('/') && file_follows && !strip_steps(from).0.ends_with(".md");
        (!component && !directory).then_some((from, to))
    })
}

/// Returns the text without its `^` and `~N`, and the number of steps back that they add up to.
fn strip_steps(text: &str) -> (&str, usize) {
    let (mut base, mut back) = (text, 0usize);
    while let Some((rest, steps)) = step(base) {
        back = back.saturating_add(steps);
        base = rest;
    }
    (base, back)
}

/// Removes a single `^` or `~N` from the end, and returns its number of steps.
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

/// Returns the last component if the text is a path: it contains a slash, or ends like a bubb's file.
pub(super) fn file_name(text: &str) -> Option<&str> {
    match text.rsplit_once('/') {
        Some((_, name)) => Some(name),
        None => text.ends_with(".md").then_some(text),
    }
}

/// Returns the bubbs whose id starts with `text`; without any, those whose id ends with it.
fn matches(forest: &Forest, text: &str) -> Vec<Ix> {
    let length = text.len();
    if length < SHORTEST {
        return Vec::new();
    }
    let Some((low, high)) = ids_beginning(text) else { return ending(forest, text) };
    match forest.between(low, high).collect::<Vec<_>>() {
        none if none.is_empty() && length < BubbId::LEN => ending(forest, text),
        found => found,
    }
}

fn ending(forest: &Forest, text: &str) -> Vec<Ix> {
    // Padding with zeros to 26 digits lets `BubbId::parse` read the text; the digits are then compared as bits.
    let Some(pad) = BubbId::LEN.checked_sub(text.len()) else { return Vec::new() };
    let Some(piece) = BubbId::parse(format!("{}{text}", "0".repeat(pad)).as_bytes()) else {
        return Vec::new();
    };
    let (piece, mask) = (piece.number(), (1 << (5 * text.len())) - 1);
    forest.all().filter(|&ix| forest.name(ix).id.number() & mask == piece).collect()
}

fn not_found(text: &str) -> Error {
    let error = Error::usage(format!("no message, branch or file {text:?}"));
    if text.len() < SHORTEST {
        error.hint(format!("a piece of an id needs at least {SHORTEST} characters"))
    } else {
        error.hint(Hint::from(HintCommand::List).text(" lists the conversations; @ is the newest"))
    }
}

fn ambiguous(forest: &Forest, text: &str, several: &[Ix]) -> Error {
    const SHOWN: usize = 10;
    let row = |&ix: &Ix| format!("{} {}", forest.name(ix).id, forest.name(ix).tag());
    let mut rows: Vec<String> = several.iter().rev().take(SHOWN).map(row).collect();
    rows.extend((several.len() > SHOWN).then(|| format!("… and {} older ones", several.len() - SHOWN)));
    Error::usage(format!("{text} is ambiguous: it begins or ends the ids of {} messages:", several.len()))
        .rows(rows)
        .hint("give more characters; the end of an id differs more than its beginning")
}

#[cfg(test)]
#[allow(clippy::string_slice)]
mod tests {
    use super::super::fixture::{self, id};
    use super::*;

    const STORE: &str = "A s0 head / B u0 A / C a0 B / D a0 B";

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
            // an exact branch name wins over a part of an id
            ("Y3ZB", "A", true),
            (&format!(".lepo/{b}-u0-{}.md", id("A")), "B", false),
            (&format!("{b}-u0-{}.md~1", id("A")), "A", false),
        ] {
            assert_eq!(resolve(text).unwrap(), (letter.to_string(), by_branch), "{text}");
        }
    }

    #[test]
    fn steps_count_what_is_seen() {
        let forest = fixture::forest("A s1 head / B u0 A / C s1 B / D a0 C / E a1 D / F t1 E");
        for (text, letter) in
            [("@", "F"), ("@^", "D"), ("@~2", "B"), ("dddd^", "B"), ("@~3", ""), ("bbbb^", "")]
        {
            let branch = |name: &str| {
                Ok(match name {
                    "dddd" => Some(id("D")),
                    "bbbb" => Some(id("B")),
                    _ => None,
                })
            };
            let found = Address::parse(text).unwrap().resolve(&forest, &branch);
            let found = found.map(|found| fixture::letters(&forest, &[found.ix])).unwrap_or_default();
            assert_eq!(found, letter, "{text}");
        }
        // A circle of visible bubbs must not loop forever.
        let circle = fixture::forest("A u0 B / B u0 A");
        let far = Address::parse(&format!("{}~99999999999", id("A"))).unwrap();
        assert!(far.resolve(&circle, &|_| Ok(None)).is_ok());
    }

    #[test]
    fn a_branch_may_have_slashes() {
        let forest = fixture::forest("A s0 head / B u0 A / C a0 B");
        let branch = |name: &str| Ok((name == "fix/a").then(|| id("B")));
        for (text, letters) in [("fix/a", "B"), ("fix/a^", "A"), ("fix/a..@", "C"), ("fix/a^..fix/a", "B")] {
            let found = AddressSpec::parse(text).unwrap().resolve(&forest, &branch).unwrap();
            assert_eq!(fixture::letters(&forest, found.bubbs()), letters, "{text}");
        }
    }

    #[test]
    fn a_range_is_what_the_second_conv_has_beyond_the_first() {
        let forest = fixture::forest("A s0 head / B u0 A / C a0 B / D a0 B / E u0 D / F u0 head");
        let file = |letter, tag, prev| format!("{}-{tag}-{}.md", id(letter), id(prev));
        let (d, e) = (file("D", "a0", "B"), file("E", "u0", "D"));
        for (text, letters) in [
            ("main..@", "F".to_string()),
            // An open range ends at the newest message.
            ("main..", "F".into()),
            ("main..eeee", "DE".into()),
            ("eeee..main", "C".into()),
            ("@..eeee~1", "ABD".into()),
            ("eeee~3..eeee^", "BD".into()),
            ("eeee..eeee^", "".into()),
            // a path is not a range …
            (&format!("../.lepo/{e}"), "E".into()),
            (&format!("../../a..b/.lepo/{e}"), "E".into()),
            (&format!("./a..b/.lepo/{e}^"), "D".into()),
            // … but may be an end of a range
            (&format!("../.lepo/{d}../../.lepo/{e}"), "E".into()),
            (&format!(".lepo/{d}^..{e}"), "DE".into()),
            (&format!("main..../.lepo/{e}~1"), "D".into()),
        ] {
            let branch = |name: &str| {
                Ok(match name {
                    "main" => Some(id("C")),
                    "eeee" => Some(id("E")),
                    _ => None,
                })
            };
            let found = AddressSpec::parse(text).unwrap().resolve(&forest, &branch).unwrap();
            assert_eq!(fixture::letters(&forest, found.bubbs()), letters, "{text}");
        }
        for text in ["..@", "@..^", "...", "nobody..@", "@..nobody", ".."] {
            let error =
                AddressSpec::parse(text).and_then(|word| word.resolve(&forest, &|_| Ok(None))).unwrap_err();
            assert_eq!(error.kind.exit_code(), 2, "{text}");
        }
    }

    #[test]
    fn what_names_nothing_says_what_was_looked_for() {
        for (text, words) in [
            ("", "names no message"),
            ("^", "names no message"),
            ("abc", "no message, branch or file \"abc\""),
            ("nobody", "no message, branch or file \"nobody\""),
            ("@~3", "no visible message 3 before @: its conversation has 2 before it"),
            ("@~99999999999999999999999", "no visible message"),
            ("gone", "branch gone names"),
            ("./README.md", "the file ./README.md"),
            ("한글이에요", "no message, branch or file"),
        ] {
            let error = resolve(text).unwrap_err();
            assert!(error.message.contains(words), "{text}: {error}");
            assert_eq!(error.kind.exit_code(), 2);
        }
    }

    #[test]
    fn two_matches_are_listed() {
        let error = resolve("01JB3Z0Q4").unwrap_err();
        let message = error.chain();
        assert!(message.contains("4 messages"), "{message}");
        for letter in ["A", "B", "C", "D"] {
            assert!(message.contains(&format!("\n  {}", id(letter))), "{message}");
        }
    }
}
