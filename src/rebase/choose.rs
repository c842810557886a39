//! Selects the messages that a rebase copies, and the parent of each copy.

use std::collections::{HashMap, HashSet};

use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::BubbName;
use lepo_store::conv::{AddressMatch, Forest, Ix};
use lepo_store::store::{CopyParent, CopyRequest, Store};
use lepo_turn::{Body, is_request_text};

#[derive(Clone, Copy)]
pub struct RebaseSelection<'w> {
    /// The tail of the line to copy, or an exact list.
    pub line: &'w AddressMatch,
    /// The message that the copies follow; `None` starts a new conversation.
    pub onto: Option<Ix>,
    /// The copies get a new root with a system prompt.
    pub new_system: bool,
    pub drop: &'w [Ix],
    pub replace: &'w [(Ix, Vec<u8>)],
    /// Side branches are copied too.
    pub sides: bool,
}

#[derive(Debug)]
pub struct RebasePlan {
    /// Parents first.
    pub copying: Vec<CopyRequest>,
    /// Index of the last message of the line; `None` if the base already contains all of it.
    pub tail: Option<usize>,
    /// Requests at the end of a copy, which would wait for consent.
    pub left_out: Vec<Ix>,
    /// The old root is not a system prompt, and is copied below the new one.
    pub root_is_kept: bool,
}

/// Whether a root is a system prompt. Instructions of a repository, which are the root without a prompt,
/// do not count.
fn is_system_prompt(store: &Store, root: &BubbName) -> Result<bool> {
    let may = root.role == Role::System && root.hidden;
    Ok(may && !Body::read_named(root, &store.text(root)?).is_of_repository())
}

pub fn choose(store: &Store, forest: &Forest, selection: RebaseSelection<'_>) -> Result<RebasePlan> {
    let mut path = line(forest, selection.line, selection.onto);
    let mut root_is_kept = false;
    if selection.new_system {
        let last = selection.line.bubbs().last();
        let root = last.and_then(|&last| forest.conv(last).path.first().copied());
        match root {
            Some(root) if is_system_prompt(store, &forest.name(root))? => path.retain(|ix| *ix != root),
            root => root_is_kept = root.is_some(),
        }
    }
    let requests = RequestCheck { store, forest, replace: selection.replace };
    let all = with_sides(forest, &path, selection.sides);
    let dropped = omitted(&requests, &all, selection)?;
    if !path.is_empty() && path.iter().all(|ix| dropped.contains(ix)) {
        return Err(Error::usage("every message is dropped: nothing is left to copy"));
    }
    let (kept, left_out) = without_waiting(&requests, all, &dropped)?;
    let on_path: HashSet<Ix> = path.iter().copied().collect();
    let mut indices: HashMap<Ix, usize> = HashMap::new();
    let mut copying = Vec::with_capacity(kept.len());
    let mut tail = None;
    for ix in kept {
        let under = if on_path.contains(&ix) {
            // The line stays in order, whatever is omitted from it.
            tail.map_or(CopyParent::Base, CopyParent::Copy)
        } else {
            let above = forest.up(ix).skip(1).find_map(|above| indices.get(&above));
            above.map_or(CopyParent::Base, |index| CopyParent::Copy(*index))
        };
        if on_path.contains(&ix) {
            tail = Some(copying.len());
        }
        indices.insert(ix, copying.len());
        let text =
            selection.replace.iter().find(|(replaced, _)| *replaced == ix).map(|(_, text)| text.clone());
        copying.push(CopyRequest { original: forest.name(ix), text, under });
    }
    Ok(RebasePlan { copying, tail, left_out, root_is_kept })
}

/// Returns the messages of the line, oldest first: a range, or those missing from the base's conversation.
pub(super) fn line(forest: &Forest, found: &AddressMatch, onto: Option<Ix>) -> Vec<Ix> {
    match found {
        AddressMatch::Range(bubbs) => bubbs.clone(),
        AddressMatch::One(end) => {
            let path = forest.conv(end.ix).path;
            let Some(onto) = onto else { return path };
            let has: HashSet<Ix> = forest.conv(onto).path.into_iter().collect();
            path.into_iter().filter(|ix| !has.contains(ix)).collect()
        }
    }
}

/// Inserts after each message its hidden side branches, those without visible descendants.
pub(super) fn with_sides(forest: &Forest, path: &[Ix], sides: bool) -> Vec<Ix> {
    if !sides {
        return path.to_vec();
    }
    let on_path: HashSet<Ix> = path.iter().copied().collect();
    let below = children_of_all(forest);
    let children_of = |ix: Ix| below.get(&ix).into_iter().flatten().copied();
    let mut all = Vec::new();
    for (index, &ix) in path.iter().enumerate() {
        all.push(ix);
        let mut beside = Vec::new();
        // Messages that other users have there do not belong to this line.
        let is_of_line =
            |child: &Ix| !on_path.contains(child) && forest.store_of(*child) == forest.store_of(ix);
        let mut open: Vec<Ix> = children_of(ix).filter(is_of_line).collect();
        let children = open.clone();
        let mut at = 0;
        while let Some(&next) = open.get(at) {
            at += 1;
            beside.push(next);
            open.extend(children_of(next));
        }
        // A branch with a visible message is the line of another answer.
        let mut visible: HashSet<Ix> = HashSet::new();
        for &next in beside.iter().rev() {
            let leads = !forest.name(next).hidden || visible.contains(&next);
            if leads {
                visible.insert(next);
                visible.extend(forest.prev(next));
            }
        }
        let (goes_on, ends): (Vec<Ix>, Vec<Ix>) =
            children.into_iter().partition(|child| visible.contains(child));
        let taken = of_next(forest, path.get(index + 1).copied(), &goes_on, ends);
        let is_taken =
            |side: &Ix| forest.up(*side).take_while(|above| *above != ix).any(|above| taken.contains(&above));
        all.extend(beside.into_iter().filter(|side| !visible.contains(side) && is_taken(side)));
    }
    all
}

/// Returns the children of each message, oldest first. [`Forest::children`] reads all names for a single one.
fn children_of_all(forest: &Forest) -> HashMap<Ix, Vec<Ix>> {
    let mut children: HashMap<Ix, Vec<Ix>> = HashMap::new();
    for ix in forest.all() {
        if let Some(prev) = forest.prev(ix) {
            children.entry(prev).or_default().push(ix);
        }
    }
    children
}

/// Selects the side branches of a message that belong to the next answer on the line: not newer than it, but
/// newer than any earlier answer (a retry). At the end of the line, selects all, unless another answer
/// follows.
fn of_next(forest: &Forest, next: Option<Ix>, goes_on: &[Ix], sides: Vec<Ix>) -> HashSet<Ix> {
    let time = |ix: Ix| forest.name(ix).id.time();
    let Some(next) = next.map(time) else {
        return if goes_on.is_empty() { sides.into_iter().collect() } else { HashSet::new() };
    };
    let before = goes_on.iter().map(|other| time(*other)).filter(|other| *other < next).max();
    let is_of_it = |side: &Ix| time(*side) <= next && before.is_none_or(|before| time(*side) > before);
    sides.into_iter().filter(is_of_it).collect()
}

/// Recognises requests by the text that the copy will have.
struct RequestCheck<'r> {
    store: &'r Store,
    forest: &'r Forest,
    replace: &'r [(Ix, Vec<u8>)],
}

impl RequestCheck<'_> {
    fn has(&self, ix: Ix) -> Result<bool> {
        let name = self.forest.name(ix);
        let text = self.replace.iter().find(|(replaced, _)| *replaced == ix).map(|(_, text)| text.as_slice());
        is_request(self.store, &name, text)
    }
}

/// Whether a message is a request for consent, with its own text or with this one.
pub(super) fn is_request(store: &Store, name: &BubbName, text: Option<&[u8]>) -> Result<bool> {
    if !may_be_request(name.role, name.hidden) {
        return Ok(false);
    }
    Ok(match text {
        Some(text) => is_request_bytes(text),
        None => is_request_bytes(&store.read_bubb(name)?),
    })
}

pub(super) fn may_be_request(role: Role, hidden: bool) -> bool {
    hidden && matches!(role, Role::System | Role::Assistant)
}

pub(super) fn is_request_bytes(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(is_request_text)
}

/// Returns the messages to omit: the named ones; for a request also its result, and for a result also its
/// request.
fn omitted(requests: &RequestCheck<'_>, all: &[Ix], selection: RebaseSelection<'_>) -> Result<HashSet<Ix>> {
    let there: HashSet<Ix> = all.iter().copied().collect();
    let named = selection.drop.iter().chain(selection.replace.iter().map(|(ix, _)| ix));
    if let Some(other) = named.into_iter().find(|ix| !there.contains(ix)) {
        let id = requests.forest.name(*other).id;
        return Err(Error::usage(format!("{id} is not among the messages to copy"))
            .hint("-n lists them; -a adds the side branches"));
    }
    let mut dropped: HashSet<Ix> = selection.drop.iter().copied().collect();
    for &ix in selection.drop {
        if requests.has(ix)? {
            let results = requests.forest.children(ix).filter(|child| requests.forest.name(*child).hidden);
            dropped.extend(results.filter(|child| there.contains(child)));
        }
        if let Some(before) = requests.forest.prev(ix)
            && requests.forest.name(ix).hidden
            && there.contains(&before)
            && requests.has(before)?
        {
            dropped.insert(before);
        }
    }
    Ok(dropped)
}

/// Splits off the requests that nothing in the copy follows: they are not copied.
fn without_waiting(
    requests: &RequestCheck<'_>,
    all: Vec<Ix>,
    dropped: &HashSet<Ix>,
) -> Result<(Vec<Ix>, Vec<Ix>)> {
    let mut followed: HashSet<Ix> = HashSet::new();
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for ix in all.into_iter().rev() {
        if dropped.contains(&ix) {
            continue;
        }
        if !followed.contains(&ix) && requests.has(ix)? {
            left_out.push(ix);
            continue;
        }
        followed.extend(requests.forest.up(ix).skip(1).find(|above| !dropped.contains(above)));
        kept.push(ix);
    }
    kept.reverse();
    left_out.reverse();
    Ok((kept, left_out))
}
