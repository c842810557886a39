//! Forests for tests, written as text: `A s1 head / B u0 A`. The date of an id follows from its letter.

// Other crates include this file in their tests and use only a part.
#![allow(dead_code)]

use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{Forest, Ix};

pub fn id(letter: &str) -> BubbId {
    let [letter] = letter.as_bytes() else { panic!("one letter, not {letter:?}") };
    let text = format!("01JB3Z0Q4{}8V2K5T7W9X1Y3Z{}X", (b'A' + (letter - b'A') % 8) as char, *letter as char);
    BubbId::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text}"))
}

pub fn forest(text: &str) -> Forest {
    Forest::new(names(text))
}

pub fn names(text: &str) -> Vec<BubbName> {
    text.split(" / ").filter(|line| !line.is_empty()).map(name).collect()
}

fn name(line: &str) -> BubbName {
    let words: Vec<&str> = line.split(' ').collect();
    let [letter, tag, prev] = words[..] else { panic!("LETTER TAG PREV, not {line:?}") };
    BubbName {
        id: id(letter),
        role: Role::from_letter(tag.as_bytes()[0]).unwrap(),
        hidden: tag.ends_with('1'),
        prev: (prev != "head").then(|| id(prev)),
    }
}

pub fn letters(forest: &Forest, path: &[Ix]) -> String {
    path.iter().map(|&ix| ('A'..='H').find(|c| id(&c.to_string()) == forest.name(ix).id).unwrap()).collect()
}

pub fn chain(length: u64) -> Forest {
    Forest::new(chain_after(0, length))
}

pub fn chain_after(time: u64, length: u64) -> Vec<BubbName> {
    let mut names = Vec::new();
    let mut prev = None;
    for time in time + 1..=time + length {
        let id = BubbId::new(time, Role::User, false, prev, &[0; 32].into());
        names.push(BubbName { id, role: Role::User, hidden: false, prev });
        prev = Some(id);
    }
    names
}
