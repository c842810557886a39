//! How many folders of days each scope reads: on a large store they are what a command waits for.

use std::collections::BTreeMap;

use tempfile::TempDir;

use super::STORE;
use super::oracle::{Dice, names, split, store};
use crate::bubb::BubbId;
use crate::conv::{ReadScope, TailScope, ids_beginning};

/// Noon of the first day of 2025, so that the same ids are in the same days at any hour.
const NOON: u64 = 1_735_732_800_000;

/// Scopes around two bubbs.
fn scopes(at: BubbId, other: BubbId) -> Vec<(&'static str, ReadScope)> {
    let id = at.to_string();
    let part = |from: usize, to: usize| id.get(from..to).unwrap_or_default().to_string();
    let begun = |text: String, count: usize| {
        let (within, tip) = (ids_beginning(&text), text.is_empty());
        ReadScope::Tails(TailScope { count, within, tip, ..TailScope::default() })
    };
    let leaves = |count: usize, siblings: bool| {
        ReadScope::Tails(TailScope { count, siblings, include_spent: true, ..TailScope::default() })
    };
    vec![
        ("all", ReadScope::All { peers: false }),
        ("all, peers too", ReadScope::All { peers: true }),
        ("beginning with a few letters", begun(part(0, 5), 3)),
        ("beginning with nothing", begun(String::new(), 3)),
        ("beginning with the id", begun(part(0, 20), 1)),
        ("followed", ReadScope::Since { id: at, judged: true }),
        ("leaf", leaves(1, false)),
        ("leaves", leaves(5, false)),
        ("newest", ReadScope::newest(1)),
        ("newest five", ReadScope::newest(5)),
        ("none", ReadScope::newest(0)),
        ("paths", ReadScope::Ids(vec![at, other])),
        ("piece, beginning", ReadScope::Piece(part(0, 8))),
        ("piece, end", ReadScope::Piece(part(18, 26))),
        ("siblings", ReadScope::Tails(TailScope { count: 2, siblings: true, ..TailScope::default() })),
        ("siblings of leaves", leaves(2, true)),
        ("since", ReadScope::Since { id: at, judged: false }),
        ("tip", ReadScope::Tip),
    ]
}

#[test]
fn no_scope_reads_more_days_than_it_needs() {
    let (mut dice, mut read) = (Dice(11), BTreeMap::new());
    for round in 0..40 {
        let dir = TempDir::new().unwrap();
        let store = store(&dir);
        let names = names(NOON, &mut dice, round);
        split(&mut dice, &names, &dir.path().join(STORE));
        let [at, other] = [(); 2].map(|()| names[dice.roll(names.len())].id);
        for (name, scope) in scopes(at, other) {
            let mut listing = store.listing().unwrap();
            listing.read_scope(&scope).unwrap();
            *read.entry(name).or_insert(0) += listing.days.len();
        }
    }
    let expected = [
        ("all", 409),
        ("all, peers too", 409),
        ("beginning with a few letters", 302),
        ("beginning with nothing", 316),
        ("beginning with the id", 290),
        ("followed", 289),
        ("leaf", 166),
        ("leaves", 343),
        ("newest", 226),
        ("newest five", 394),
        ("none", 226),
        ("paths", 128),
        ("piece, beginning", 95),
        ("piece, end", 421),
        ("siblings", 309),
        ("siblings of leaves", 291),
        ("since", 264),
        ("tip", 226),
    ];
    assert_eq!(read.into_iter().collect::<Vec<_>>(), expected);
}
