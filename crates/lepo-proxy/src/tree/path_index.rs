//! Indexes all paths of a store by a hash of their parts, to find the longest path that a request begins with.
//!
//! A point is a path up to one part. Points are only added, each after its parent.

use std::collections::HashMap;

use super::layout::PartKind;
use super::part_key::PathHash;
use lepo_base::role::Role;
use lepo_store::bubb::BubbId;

/// How many calls back a result searches for its own.
const REACH: usize = 1000;

/// Maximum number of points with the same hash to compare, newest first.
const SAME: usize = 100;

/// A path up to one part, in a [`PathIndex`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathPoint(u32);

/// A system text in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemText {
    /// The message that has it.
    pub id: BubbId,
    /// Its hash.
    pub hash: PathHash,
}

/// A part that follows a point.
#[derive(Debug, Clone, Copy)]
pub struct NextPart<'p> {
    /// Its kind.
    pub kind: PartKind,
    /// Its hash; `None` if it is ignored in comparisons.
    pub hash: Option<PathHash>,
    /// Its message.
    pub bubb: BubbId,
    /// The system text in force at it.
    pub system: Option<SystemText>,
    /// The provider's id of the call that it is.
    pub call: &'p str,
    /// The message of the journal's line about the answer that it is a part of.
    pub answer: Option<BubbId>,
}

#[derive(Debug)]
struct PathNode {
    parent: Option<PathPoint>,
    /// The previous point with the same hash.
    older: Option<PathPoint>,
    hash: PathHash,
    bubb: BubbId,
    /// The message that a visible one would follow.
    tip: BubbId,
    system: Option<SystemText>,
    kind: PartKind,
    /// False for parts ignored in comparisons, such as a changed system text.
    is_counted: bool,
    has_question: bool,
    /// A question and an answer are on the path.
    has_exchange: bool,
    call: Box<str>,
    answer: Option<BubbId>,
}

/// The paths of a store.
#[derive(Debug, Default)]
pub struct PathIndex {
    nodes: Vec<PathNode>,
    newest: HashMap<PathHash, PathPoint>,
    /// The newest root with each system prompt.
    roots: HashMap<PathHash, PathPoint>,
}

/// The longest known path with which a request begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FoundPath {
    /// Its end; `None` if the request is unknown from its first part on.
    pub point: Option<PathPoint>,
    /// The number of parts of the request that it has.
    pub parts: usize,
}

impl PathIndex {
    fn node(&self, point: PathPoint) -> Option<&PathNode> {
        self.nodes.get(point.0 as usize)
    }

    /// Adds a system prompt at the beginning of a path.
    pub fn add_root(&mut self, system: SystemText) -> PathPoint {
        let point = self.push(PathNode {
            parent: None,
            older: None,
            hash: PathHash::default(),
            bubb: system.id,
            tip: system.id,
            system: Some(system),
            kind: PartKind::System,
            is_counted: false,
            has_question: false,
            has_exchange: false,
            call: Box::default(),
            answer: None,
        });
        let known = self.roots.get(&system.hash).and_then(|known| self.node(*known));
        if known.is_none_or(|known| known.bubb < system.id) {
            self.roots.insert(system.hash, point);
        }
        point
    }

    /// Adds a part, unless the same message is known there; returns its point.
    pub fn add(&mut self, parent: Option<PathPoint>, part: NextPart<'_>) -> PathPoint {
        let above = parent.and_then(|parent| self.node(parent));
        let before = self.hash(parent);
        let hash = part.hash.map_or(before, |hash| before.with(hash));
        let is_question = part.kind == PartKind::Visible(Role::User);
        let is_answer = matches!(part.kind, PartKind::Visible(Role::Assistant) | PartKind::Call);
        let had_question = above.is_some_and(|above| above.has_question);
        let spine = matches!(part.kind, PartKind::Visible(_));
        let node = PathNode {
            parent,
            older: None,
            hash,
            bubb: part.bubb,
            tip: if spine { part.bubb } else { above.map_or(part.bubb, |above| above.tip) },
            system: part.system,
            kind: part.kind,
            is_counted: part.hash.is_some(),
            has_question: had_question || is_question,
            has_exchange: above.is_some_and(|above| above.has_exchange) || (had_question && is_answer),
            call: part.call.into(),
            answer: part.answer,
        };
        self.add_node(node)
    }

    /// Adds a system text that replaces the one in force after a point: on the spine, or as a leaf.
    pub fn change_system(&mut self, parent: PathPoint, system: SystemText, is_on_spine: bool) -> PathPoint {
        let part = NextPart {
            kind: PartKind::System,
            hash: None,
            bubb: system.id,
            system: Some(system),
            call: "",
            answer: None,
        };
        let point = self.add(Some(parent), part);
        if let Some(node) = self.nodes.get_mut(point.0 as usize).filter(|_| is_on_spine) {
            node.tip = system.id;
        }
        point
    }

    fn add_node(&mut self, mut node: PathNode) -> PathPoint {
        let known = self.points_with(node.hash).find(|known| {
            self.node(*known).is_some_and(|known| {
                known.bubb == node.bubb && known.parent == node.parent && known.system == node.system
            })
        });
        if let Some(known) = known {
            return known;
        }
        node.older = self.newest.get(&node.hash).copied();
        let hash = node.hash;
        let point = self.push(node);
        self.newest.insert(hash, point);
        point
    }

    fn push(&mut self, node: PathNode) -> PathPoint {
        self.nodes.push(node);
        PathPoint((self.nodes.len() - 1) as u32)
    }

    /// Returns the points with a hash, the last added first.
    fn points_with(&self, hash: PathHash) -> impl Iterator<Item = PathPoint> {
        let newest = self.newest.get(&hash).copied();
        std::iter::successors(newest, |point| self.node(*point)?.older).take(SAME)
    }

    /// Returns the hash of a path; of the empty one without a point.
    pub fn hash(&self, point: Option<PathPoint>) -> PathHash {
        point.and_then(|point| self.node(point)).map_or(PathHash::default(), |node| node.hash)
    }

    /// Whether a path with this hash is known.
    pub fn has(&self, hash: PathHash) -> bool {
        self.newest.contains_key(&hash)
    }

    /// Returns the messages of the compared parts that follow a path with this hash, the last added first. Looks at
    /// all points.
    pub fn followers(&self, hash: PathHash) -> impl Iterator<Item = BubbId> {
        let nodes = self.nodes.iter().rev().filter(|node| node.is_counted);
        nodes.filter(move |node| self.hash(node.parent) == hash).map(|node| node.bubb)
    }

    /// Returns the points of a path from its end.
    fn up(&self, from: Option<PathPoint>) -> impl Iterator<Item = (PathPoint, &PathNode)> {
        let first = from.and_then(|point| Some((point, self.node(point)?)));
        std::iter::successors(first, |(_, node)| {
            node.parent.and_then(|point| Some((point, self.node(point)?)))
        })
    }

    /// Finds the longest path with which the parts begin, after `base` if there is one. A path with another system
    /// text counts if a question and its answer are on it. If there are several, returns the newest, but prefers
    /// those with this system text.
    pub fn find(
        &self,
        base: Option<PathPoint>,
        parts: &[Option<PathHash>],
        system: Option<PathHash>,
    ) -> FoundPath {
        let mut hash = self.hash(base);
        let mut hashes = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if let Some(part) = part {
                hash = hash.with(*part);
                hashes.push((hash, index + 1));
            }
        }
        for (hash, parts) in hashes.into_iter().rev() {
            let candidates = self.points_with(hash).filter_map(|point| {
                let node = self.node(point)?;
                let is_equal = node.system.map(|system| system.hash) == system;
                let can_continue = (is_equal || node.has_exchange) && self.is_after(point, base);
                can_continue.then_some(((is_equal, node.bubb, point), point))
            });
            if let Some((_, point)) = candidates.max_by_key(|(order, _)| *order) {
                return FoundPath { point: Some(point), parts };
            }
        }
        let root = system.and_then(|system| self.roots.get(&system).copied());
        FoundPath { point: base.or(root), parts: 0 }
    }

    /// Whether a point is the base or comes after it.
    fn is_after(&self, point: PathPoint, base: Option<PathPoint>) -> bool {
        let Some(base) = base else { return true };
        // A point is added after its parent.
        let mut up = self.up(Some(point)).take_while(|(point, _)| *point >= base);
        up.any(|(point, _)| point == base)
    }

    /// Returns the message that a visible one would follow.
    pub fn tip(&self, point: PathPoint) -> Option<BubbId> {
        self.node(point).map(|node| node.tip)
    }

    /// Returns the system text in force.
    pub fn system(&self, point: PathPoint) -> Option<SystemText> {
        self.node(point)?.system
    }

    /// Whether the last compared part is a call or a result.
    pub fn is_in_tool_loop(&self, point: PathPoint) -> bool {
        let last = self.up(Some(point)).find(|(_, node)| node.is_counted);
        last.is_some_and(|(_, node)| matches!(node.kind, PartKind::Call | PartKind::Output))
    }

    /// Returns the messages of the compared parts, the last first.
    pub fn messages_up(&self, point: PathPoint) -> impl Iterator<Item = BubbId> {
        self.up(Some(point)).filter(|(_, node)| node.is_counted).map(|(_, node)| node.bubb)
    }

    /// Returns the messages of the answer with which a path ends.
    pub fn messages_of_answer(&self, end: PathPoint) -> Vec<BubbId> {
        let answer = self.node(end).and_then(|node| node.answer);
        let parts = self.up(Some(end)).take_while(|(_, node)| answer.is_some() && node.answer == answer);
        parts.map(|(_, node)| node.bubb).collect()
    }

    /// Finds the message of a call by its id; without one, of the last call.
    pub fn call(&self, point: PathPoint, id: &str) -> Option<BubbId> {
        let mut calls = self.up(Some(point)).filter(|(_, node)| node.kind == PartKind::Call).take(REACH);
        calls.find(|(_, node)| id.is_empty() || *node.call == *id).map(|(_, node)| node.bubb)
    }

    /// Returns the compared hidden messages up to a point, in order, since the last answer with a line in the journal,
    /// including its own parts.
    pub fn after(&self, point: PathPoint) -> Vec<BubbId> {
        let mut answer = None;
        let mut after = Vec::new();
        for (_, node) in self.up(Some(point)) {
            if answer.is_some() && node.answer != answer {
                break;
            }
            answer = answer.or(node.answer);
            if node.is_counted && node.kind.tag().1 {
                after.push(node.bubb);
            }
        }
        after.reverse();
        after
    }
}
