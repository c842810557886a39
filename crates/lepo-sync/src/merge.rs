//! Merges the user's other clones into a store. Pure: sets in, changes out.
//!
//! All clones of a user end with the same set: every bubb of any clone, except removed ones, and its ancestors. So a
//! removed bubb stays removed, unless a clone continued from it, or a branch names it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::removal_counts::RemovalCounts;
use super::titles::SyncTitles;
use lepo_store::bubb::{BubbId, BubbName};

/// A clone: its content, and the removals that it knows of.
#[derive(Debug, Clone, Default)]
pub struct MergeSide {
    pub clone: String,
    pub bubbs: HashMap<BubbId, BubbName>,
    /// Branches by their file names.
    pub branches: BTreeMap<String, BubbId>,
    pub titles: SyncTitles,
    pub removed: RemovalCounts,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Bubbs to add, oldest first, each with the index of a clone that has it.
    pub add: Vec<(BubbName, usize)>,
    /// Bubbs to delete, newest first.
    pub remove: Vec<BubbName>,
    /// Bubbs to restore after a removal. The clone that removed them reports this too.
    pub back: Vec<(BubbName, RestoreReason)>,
    pub branches: Vec<(String, BubbId)>,
    pub branches_removed: Vec<String>,
    pub titles: SyncTitles,
    pub removed: RemovalCounts,
}

/// Why a removed bubb is restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreReason {
    /// The branch with this file name names it.
    Branch(String),
    /// A bubb that was never removed follows it.
    Followed,
    /// A clone took its removal back.
    BroughtBack,
}

/// Records in `here.removed` the removals and restorations made here since `pushed` was pushed.
pub fn note_own_removals(here: &mut MergeSide, pushed: &MergeSide) {
    for id in pushed.bubbs.keys().filter(|id| !here.bubbs.contains_key(id)) {
        here.removed.remove(*id);
    }
    for id in here.bubbs.keys().filter(|id| !pushed.bubbs.contains_key(id)) {
        here.removed.restore(*id);
    }
    for (file, id) in &pushed.branches {
        // A branch moved away from a removed bubb must not preserve it any more, in other clones either.
        let has_moved = here.branches.get(file).is_none_or(|at| at != id && here.removed.contains(*id));
        if has_moved {
            here.removed.remove_branch(file, *id);
        }
    }
    for (file, id) in &here.branches {
        if pushed.branches.get(file) != Some(id) {
            here.removed.restore_branch(file, *id);
        }
    }
}

pub fn merge(here: &MergeSide, others: &[MergeSide]) -> Changes {
    let mut removed = here.removed.clone();
    for other in others {
        removed.merge(&other.removed);
    }
    let name_of = |id: &BubbId| {
        here.bubbs.get(id).or_else(|| others.iter().find_map(|other| other.bubbs.get(id))).copied()
    };
    // Retain bubbs without a removal, bubbs named by a branch without a removal, and the ancestors of both.
    let (mut kept, mut ahead): (HashSet<BubbId>, Vec<BubbId>) = Default::default();
    let sides = || std::iter::once(here).chain(others);
    for side in sides() {
        ahead.extend(side.bubbs.keys().filter(|id| !removed.contains(**id)));
        ahead.extend(
            side.branches.iter().filter(|(file, id)| !removed.has_branch(file, **id)).map(|(_, id)| *id),
        );
    }
    while let Some(id) = ahead.pop() {
        if let Some(name) = name_of(&id)
            && kept.insert(id)
        {
            ahead.extend(name.prev);
        }
    }
    let followed: HashSet<BubbId> = kept.iter().filter_map(|id| name_of(id)?.prev).collect();
    let branch_at = |id: &BubbId| {
        let named = |(file, at): &(&String, &BubbId)| *at == id && !removed.has_branch(file, *id);
        let branch = sides().find_map(|side| side.branches.iter().find(named)).map(|(file, _)| file.clone());
        branch.filter(|_| !followed.contains(id))
    };
    let mut changes = Changes::default();
    for id in &kept {
        let comes_back = here.removed.contains(*id) && !here.bubbs.contains_key(id);
        if removed.contains(*id) || comes_back {
            changes.back.extend(name_of(id).map(|name| (name, RestoreReason::BroughtBack)));
        }
        if !here.bubbs.contains_key(id) {
            let found = others.iter().enumerate().find_map(|(i, other)| Some((*other.bubbs.get(id)?, i)));
            changes.add.extend(found);
        }
    }
    let mut needed = HashSet::new();
    let was_removed = |id: &BubbId| here.removed.contains(*id) || removed.contains(*id);
    let is_cause = |id: &&BubbId| !was_removed(id) || branch_at(id).is_some();
    for id in kept.iter().filter(|_| !changes.back.is_empty()).filter(is_cause) {
        let mut at = name_of(id).and_then(|name| name.prev);
        while let Some(id) = at.filter(|id| needed.insert(*id)) {
            at = name_of(&id).and_then(|name| name.prev);
        }
    }
    for (name, reason) in &mut changes.back {
        *reason = match branch_at(&name.id) {
            Some(branch) => RestoreReason::Branch(branch),
            None if needed.contains(&name.id) => RestoreReason::Followed,
            None => RestoreReason::BroughtBack,
        };
    }
    for (name, _) in &changes.back {
        removed.restore(name.id);
    }
    changes.remove = here.bubbs.values().filter(|name| !kept.contains(&name.id)).copied().collect();
    changes.add.sort_unstable_by_key(|(name, _)| name.id);
    changes.remove.sort_unstable_by_key(|name| std::cmp::Reverse(name.id));
    changes.back.sort_unstable_by_key(|(name, _)| name.id);
    merge_branches(here, others, &removed, &name_of, &mut changes);
    changes.titles = here.titles.clone();
    others.iter().for_each(|other| changes.titles.merge(&other.titles));
    changes.titles.retain_there(&removed);
    changes.removed = removed;
    changes
}

/// Moves each branch to a descendant of its bubb; otherwise adds the other clone's branch under the name
/// `CLONE/BRANCH`.
fn merge_branches(
    here: &MergeSide,
    others: &[MergeSide],
    removed: &RemovalCounts,
    name_of: &dyn Fn(&BubbId) -> Option<BubbName>,
    changes: &mut Changes,
) {
    let descends = |new: BubbId, old: BubbId| {
        let (mut at, mut steps) = (Some(new), 0usize);
        while let Some(id) = at.filter(|_| steps < 10_000_000) {
            if id == old {
                return true;
            }
            at = name_of(&id).and_then(|name| name.prev).filter(|prev| *prev < id);
            steps += 1;
        }
        false
    };
    let mut branches = here.branches.clone();
    for (file, id) in &here.branches {
        if removed.has_branch(file, *id) {
            branches.remove(file);
            changes.branches_removed.push(file.clone());
        }
    }
    let clones: Vec<&str> = std::iter::once(here).chain(others).map(|side| side.clone.as_str()).collect();
    for other in others {
        for (file, id) in &other.branches {
            // `CLONE/BRANCH` comes from a clone whose own branch is merged here itself.
            let is_beside = file.split_once("%2F").is_some_and(|(clone, _)| clones.contains(&clone));
            if is_beside || removed.has_branch(file, *id) || name_of(id).is_none() {
                continue;
            }
            let beside = format!("{}%2F{file}", other.clone);
            let target = match branches.get(file) {
                None => file.clone(),
                Some(mine) if mine == id || descends(*mine, *id) => continue,
                Some(mine) if descends(*id, *mine) => file.clone(),
                Some(_) if removed.has_branch(&beside, *id) => continue,
                Some(_) if is_there(&branches, file, *id) => continue,
                Some(_) => beside,
            };
            if branches.insert(target.clone(), *id) != Some(*id) {
                changes.branches.push((target, *id));
            }
        }
    }
    changes.branches_removed.retain(|file| !branches.contains_key(file));
}

/// Whether some `CLONE/BRANCH` for `file` already names this bubb.
fn is_there(branches: &BTreeMap<String, BubbId>, file: &str, id: BubbId) -> bool {
    let end = format!("%2F{file}");
    branches.iter().any(|(name, at)| *at == id && name.ends_with(&end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{id, names};

    /// Parses `CLONE: BUBBS; BRANCHES`, as in `laptop: A s1 head / B u0 A; main=B`, and the letters of removed bubbs.
    fn side(text: &str, removed: &str) -> MergeSide {
        let (clone, rest) = text.split_once(": ").unwrap();
        let (bubbs, branches) = rest.split_once("; ").unwrap_or((rest, ""));
        let mut side = MergeSide { clone: clone.into(), ..MergeSide::default() };
        side.bubbs = names(bubbs).into_iter().map(|name| (name.id, name)).collect();
        let pairs = branches.split(' ').filter_map(|pair| pair.split_once('='));
        side.branches = pairs.map(|(file, at)| (file.to_string(), id(at))).collect();
        for letter in removed.chars().filter(|letter| *letter != '+') {
            side.removed.remove(id(&letter.to_string()));
        }
        // Letters after a `+` are restored.
        for letter in removed.split_once('+').map(|(_, back)| back).unwrap_or_default().chars() {
            side.removed.restore(id(&letter.to_string()));
        }
        side
    }

    fn letters<'n>(names: impl IntoIterator<Item = &'n BubbName>) -> String {
        let letter = |name: &BubbName| ('A'..='H').find(|c| id(&c.to_string()) == name.id).unwrap();
        names.into_iter().map(letter).collect()
    }

    #[test]
    fn bubbs_are_united_and_what_was_removed_stays_removed() {
        for (here, mine_removed, other, their_removed, add, remove, back) in [
            ("a: A s1 head", "", "b: A s1 head / B u0 A", "", "B", "", ""),
            ("a: A s1 head / B u0 A", "", "b: A s1 head", "B", "", "B", ""),
            ("a: A s1 head", "B", "b: A s1 head / B u0 A", "", "", "", ""),
            // the other clone continued from a bubb removed here
            ("a: A s1 head", "B", "b: A s1 head / B u0 A / C a0 B", "", "BC", "", "B"),
            // this clone continued from a bubb removed there
            ("a: A s1 head / B u0 A / C a0 B", "", "b: A s1 head", "B", "", "", "B"),
            // both clones removed all of it
            ("a: A s1 head", "BC", "b: A s1 head / B u0 A / C a0 B", "", "", "", ""),
            // the other clone continued and has recorded it: this clone reports it too
            ("a: A s1 head", "B", "b: A s1 head / B u0 A / C a0 B", "+B", "BC", "", "B"),
            // a branch names it
            ("a: A s1 head", "B", "b: A s1 head / B u0 A; main=B", "", "B", "", "B"),
        ] {
            let changes = merge(&side(here, mine_removed), &[side(other, their_removed)]);
            let added: Vec<BubbName> = changes.add.iter().map(|(name, _)| *name).collect();
            let came_back = letters(changes.back.iter().map(|(name, _)| name));
            let actual = (letters(&added), letters(&changes.remove), came_back);
            assert_eq!(actual, (add.into(), remove.into(), back.into()), "{here} | {other}");
            let is_named = |reason: &RestoreReason| matches!(reason, RestoreReason::Branch(_));
            let names_it = changes.back.iter().all(|(_, reason)| is_named(reason) == other.contains('='));
            assert!(names_it, "{here} | {other}: {:?}", changes.back);
        }
    }

    #[test]
    fn branches_move_on_or_stand_beside() {
        const TREE: &str = "A s1 head / B u0 A / C a0 B / D a0 B";
        const FORK: &str = "A s1 head / B u0 A / C u0 A / D u0 A";
        for (mine, theirs, expected) in [
            ("", "main=B", "main=B"),
            ("main=B", "main=C", "main=C"),
            ("main=C", "main=B", ""),
            ("main=C", "main=D", "b%2Fmain=D"),
            ("main=C", "main=C", ""),
        ] {
            let here = side(&format!("a: {TREE}; {mine}"), "");
            let changes = merge(&here, &[side(&format!("b: {TREE}; {theirs}"), "")]);
            let branches: Vec<String> = changes
                .branches
                .iter()
                .map(|(file, at)| format!("{file}={}", letters([&here.bubbs[at]])))
                .collect();
            assert_eq!(branches.join(" "), expected, "{mine} | {theirs}");
        }
        // Three clones that differ end with three names each, however often they merge.
        let mut sides: Vec<MergeSide> = [("a", "B"), ("b", "C"), ("c", "D")]
            .map(|(clone, at)| side(&format!("{clone}: {FORK}; main={at}"), ""))
            .into();
        for _ in 0..4 {
            for at in 0..3 {
                let others: Vec<MergeSide> = (0..3).filter(|i| *i != at).map(|i| sides[i].clone()).collect();
                let changes = merge(&sides[at], &others);
                sides[at].branches.extend(changes.branches);
            }
        }
        for side in &sides {
            assert_eq!(side.branches.len(), 3, "{:?}", side.branches);
        }
        let mut here = side(&format!("a: {TREE}"), "");
        note_own_removals(&mut here, &side(&format!("a: {TREE}; main=B"), ""));
        let deleted = merge(&here, &[side(&format!("b: {TREE}; main=B"), "")]);
        assert!(deleted.branches.is_empty());
        let moved = merge(&here, &[side(&format!("b: {TREE}; main=C"), "")]);
        assert_eq!(moved.branches.len(), 1);
    }

    #[test]
    fn what_is_written_again_after_its_removal_is_kept() {
        let pushed = side("a: A s1 head", "B");
        let mut here = side("a: A s1 head / B u0 A", "B");
        note_own_removals(&mut here, &pushed);
        assert!(merge(&here, &[]).remove.is_empty());
        let mut gone = side("a: A s1 head", "");
        note_own_removals(&mut gone, &side("a: A s1 head / B u0 A", ""));
        assert!(gone.removed.contains(id("B")));
    }

    #[test]
    fn a_branch_that_moved_away_from_what_was_removed_holds_it_nowhere() {
        let tree = "A s1 head / B u0 A";
        let pushed = side(&format!("a: {tree}; main=B"), "");
        let mut here = side("a: A s1 head / C u0 A; main=C", "");
        note_own_removals(&mut here, &pushed);
        let mut there = side(&format!("b: {tree}; main=B"), "");
        note_own_removals(&mut there, &pushed);
        let changes = merge(&there, &[here.clone()]);
        assert_eq!(letters(&changes.remove), "B");
        assert_eq!(changes.branches, [("main".to_string(), id("C"))]);
        assert!(changes.back.is_empty() && changes.branches_removed.is_empty());
        let back = merge(&here, &[there]);
        assert!(back.add.is_empty() && back.branches.is_empty(), "{back:?}");
    }

    #[test]
    fn clones_that_merge_in_any_order_end_with_one_set() {
        let mut dice = 5u64;
        let mut roll = |sides: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % sides
        };
        let all = names("A s1 head / B u0 A / C a0 B / D u0 C / E a0 D / F a0 B / G u0 F");
        for _ in 0..500 {
            let mut clones: Vec<MergeSide> =
                (0..3).map(|i| MergeSide { clone: format!("c{i}"), ..MergeSide::default() }).collect();
            let mut pushed: Vec<MergeSide> = clones.clone();
            for _ in 0..30 {
                let at = roll(3) as usize;
                match roll(3) {
                    0 => {
                        // Writes a bubb that follows an existing one.
                        let name = all[roll(7) as usize];
                        if name.prev.is_none_or(|prev| clones[at].bubbs.contains_key(&prev)) {
                            clones[at].bubbs.insert(name.id, name);
                        }
                    }
                    1 => {
                        // Removes a bubb without followers, as `rm` does.
                        let leaf = all.iter().rev().find(|name| clones[at].bubbs.contains_key(&name.id));
                        if let Some(leaf) = leaf
                            .filter(|leaf| !clones[at].bubbs.values().any(|name| name.prev == Some(leaf.id)))
                        {
                            let id = leaf.id;
                            clones[at].bubbs.remove(&id);
                        }
                    }
                    _ => sync(&mut clones, &mut pushed, at),
                }
            }
            for _ in 0..3 {
                for at in 0..3 {
                    sync(&mut clones, &mut pushed, at);
                }
            }
            let set = |side: &MergeSide| {
                let mut ids: Vec<BubbId> = side.bubbs.keys().copied().collect();
                ids.sort();
                ids
            };
            assert_eq!(set(&clones[0]), set(&clones[1]));
            assert_eq!(set(&clones[1]), set(&clones[2]));
            for side in &clones {
                assert!(
                    side.bubbs
                        .values()
                        .all(|name| name.prev.is_none_or(|prev| side.bubbs.contains_key(&prev)))
                );
            }
        }

        fn sync(clones: &mut [MergeSide], pushed: &mut [MergeSide], at: usize) {
            let last = pushed[at].clone();
            note_own_removals(&mut clones[at], &last);
            let others: Vec<MergeSide> =
                pushed.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, side)| side.clone()).collect();
            let changes = merge(&clones[at], &others);
            for (name, _) in changes.add {
                clones[at].bubbs.insert(name.id, name);
            }
            for name in changes.remove {
                clones[at].bubbs.remove(&name.id);
            }
            clones[at].removed = changes.removed;
            pushed[at] = clones[at].clone();
        }
    }
}
