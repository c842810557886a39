//! Selects the bubbs of a forest for a page, and links them to each other.

use std::collections::HashMap;

use lepo_store::bubb::BubbId;
use lepo_store::conv::{Forest, Ix};

/// The bubbs of a page, each after its prev.
#[derive(Debug, Default)]
pub struct PageSelection {
    /// The bubbs, each with the index of the previous bubb on the page.
    pub bubbs: Vec<(Ix, Option<usize>)>,
    /// Index of the last bubb of the conversation displayed first.
    pub chosen: Option<usize>,
    /// Side branches to display within the bubb at an index: tool calls and their results.
    pub sides: HashMap<usize, Vec<Ix>>,
}

/// The note of a walk about a visited bubb.
#[derive(Clone, Copy)]
struct WalkMark {
    /// The walk that visited it first; a walk that meets itself has found a cycle, and is cut.
    walk: usize,
    /// Index of the nearest ancestor on the page, or of the bubb itself.
    index: Option<usize>,
}

/// Selects the conversations that end at `tips`; the page displays the first of them first. With `hidden` it includes
/// their hidden bubbs, and the side branches on them that end at `spent`; otherwise the stopped answers.
pub fn pick(
    forest: &Forest,
    tips: &[Ix],
    (hidden, stopped): (bool, &dyn Fn(BubbId) -> bool),
    spent: &[Ix],
) -> PageSelection {
    let mut picked = PageSelection::default();
    let mut passed: HashMap<Ix, WalkMark> = HashMap::new();
    for (walk, &tip) in tips.iter().enumerate() {
        let (chain, joint) = climb(forest, tip, walk, &mut passed);
        let mut index = joint.and_then(|joint| passed.get(&joint)).and_then(|joint| joint.index);
        for ix in chain.into_iter().rev() {
            let name = forest.name(ix);
            if hidden || !name.hidden || stopped(name.id) {
                picked.bubbs.push((ix, index));
                index = Some(picked.bubbs.len() - 1);
            }
            passed.insert(ix, WalkMark { walk, index });
        }
        if walk == 0 {
            picked.chosen = passed.get(&tip).and_then(|tip| tip.index);
        }
    }
    if hidden {
        for (i, &leaf) in spent.iter().enumerate() {
            let (mut chain, joint) = climb(forest, leaf, tips.len() + i, &mut passed);
            let index = joint.and_then(|joint| passed.get(&joint)).and_then(|joint| joint.index);
            for &ix in &chain {
                passed.insert(ix, WalkMark { walk: tips.len() + i, index });
            }
            if let Some(index) = index {
                chain.reverse();
                picked.sides.entry(index).or_default().extend(chain);
            }
        }
        picked.sides.values_mut().for_each(|side| side.sort_unstable());
    }
    picked
}

/// Returns the bubbs from `tip` up to the first one visited before, and that one.
fn climb(forest: &Forest, tip: Ix, walk: usize, passed: &mut HashMap<Ix, WalkMark>) -> (Vec<Ix>, Option<Ix>) {
    let mut chain = Vec::new();
    let mut at = Some(tip);
    while let Some(ix) = at {
        match passed.get(&ix) {
            Some(known) if known.walk == walk => return (chain, None),
            Some(_) => return (chain, Some(ix)),
            None => {}
        }
        passed.insert(ix, WalkMark { walk, index: None });
        chain.push(ix);
        at = forest.prev(ix);
    }
    (chain, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, id};

    #[test]
    fn each_bubb_stands_once_and_behind_what_it_follows() {
        for (store, tips, hidden, expected, chosen) in [
            ("A s1 head / B u0 A / C a0 B", "C", false, "B C<B", "C"),
            ("A s1 head / B u0 A / C a0 B", "C", true, "A B<A C<B", "C"),
            ("A u0 head / B a0 A / C a0 A / D u0 B", "DC", false, "A B<A D<B C<A", "D"),
            ("A u0 head / B a0 A / C a0 A / D u0 B", "C", false, "A C<A", "C"),
            // speakers: the hidden bubbs between them are omitted
            ("A u0 head / B s1 A / C a0 B / D s1 A / E a0 D", "EC", false, "A E<A C<A", "E"),
            // a hidden tail ends at its last visible ancestor
            ("A u0 head / B a1 A", "B", false, "A", "A"),
            // a side branch is displayed within a message
            ("A u0 head / B a1 A / C t1 B / D a0 A", "D", true, "A+BC D<A", "D"),
            ("A u0 head / B a1 A / C t1 B / D a0 A", "D", false, "A D<A", "D"),
            // cycles are cut
            ("A u0 B / B u0 A / C a0 B", "C", false, "A B<A C<B", "C"),
            ("A u0 A", "A", false, "A", "A"),
            ("A s1 head", "A", false, "", ""),
        ] {
            let forest = fixture::forest(store);
            let at = |c: char| forest.find(id(&c.to_string())).unwrap();
            let tips: Vec<Ix> = tips.chars().map(at).collect();
            let spent: Vec<Ix> =
                forest.tails(true).into_iter().filter(|ix| !forest.tails(false).contains(ix)).collect();
            let picked = pick(&forest, &tips, (hidden, &|_| false), &spent);
            let letter = |index: usize| fixture::letters(&forest, &[picked.bubbs[index].0]);
            let texts: Vec<String> = (0..picked.bubbs.len())
                .map(|index| {
                    let prev =
                        picked.bubbs[index].1.map(|prev| format!("<{}", letter(prev))).unwrap_or_default();
                    let side =
                        picked.sides.get(&index).map(|side| format!("+{}", fixture::letters(&forest, side)));
                    letter(index) + &prev + &side.unwrap_or_default()
                })
                .collect();
            assert_eq!(texts.join(" "), expected, "{store}");
            assert_eq!(picked.chosen.map(letter).unwrap_or_default(), chosen, "{store}");
        }
    }
}
