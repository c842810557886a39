//! Builds the trees to export: for each root its visible bubbs, below the system prompt.

use std::collections::{HashMap, HashSet};

use super::args::ExportArgs;
use super::render::marked_stopped;
use crate::commands::address_args::find_in;
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::{Attachment, BubbId, BubbName, excerpt_text, split_attachments};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{JournalRecord, Store};
use lepo_turn::StoppedAnswers;

pub type ExportedFile = (Attachment, Vec<u8>);

pub struct TreeNode {
    pub name: BubbName,
    /// Whether a reader sees it without asking for hidden messages.
    pub is_shown: bool,
    /// Without the lines of the files that are in `files`.
    pub text: String,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    pub fact: JournalRecord,
    pub files: Vec<ExportedFile>,
}

/// All bubbs below a root.
pub struct ExportTree {
    /// Oldest first, and parents before their children.
    pub nodes: Vec<TreeNode>,
    /// Title of the tree, else the beginning of its first question.
    pub title: String,
    /// The user gave it the title.
    pub is_titled: bool,
    /// Index of the bubb to display first.
    pub current: usize,
}

impl ExportTree {
    /// Returns the id of the first bubb, by which another tool identifies the tree.
    pub fn id(&self) -> String {
        self.nodes.first().map(|node| node.name.id.to_string()).unwrap_or_default()
    }

    /// Times of the oldest and the newest bubb, in milliseconds since 1970.
    pub fn times(&self) -> (u64, u64) {
        let times = || self.nodes.iter().map(|node| node.name.id.time());
        (times().min().unwrap_or_default(), times().max().unwrap_or_default())
    }

    pub fn path(&self) -> Vec<usize> {
        self.path_to(self.current)
    }

    pub fn path_to(&self, end: usize) -> Vec<usize> {
        let mut path: Vec<usize> = std::iter::successors(Some(end), |&at| self.nodes[at].parent).collect();
        path.reverse();
        path
    }
}

/// Returns the tag of a bubb whose kind another tool could not represent: anything but a visible question or
/// answer.
pub fn tag(node: &TreeNode) -> Option<String> {
    let plain = !node.name.hidden && matches!(node.name.role, Role::User | Role::Assistant);
    (!plain).then(|| node.name.tag())
}

pub fn is_prompt(node: &TreeNode) -> bool {
    node.parent.is_none() && node.name.hidden && node.name.role == Role::System
}

/// Builds the trees to export: all, or the one with the address.
pub fn exported_trees(args: &ExportArgs, store: &Store) -> Result<Vec<ExportTree>> {
    let address = args.address()?;
    let forest = store.forest()?;
    let tip = if args.all { None } else { Some(find_in(store, &forest, address)?) };
    let trees = trees(store, &forest, tip, args.hidden)?;
    match (trees.is_empty(), forest.is_empty()) {
        (false, _) => Ok(trees),
        (true, true) => Err(Error::nothing("nothing to export: the store has no messages")),
        (true, false) => Err(Error::nothing("nothing to export: all messages are hidden")),
    }
}

/// Builds all trees of a forest, or the one with a bubb. Without `hidden`, hidden bubbs except the prompt are
/// omitted.
fn trees(store: &Store, forest: &Forest, tip: Option<Ix>, hidden: bool) -> Result<Vec<ExportTree>> {
    let stopped = if hidden { StoppedAnswers::default() } else { StoppedAnswers::new(store, forest) };
    let (facts, titles) = (store.journal().facts(), store.titles());
    let mut outlines = forest.outlines();
    let wanted = tip.map(|tip| outlines.value(tip).root);
    let shown_path: HashSet<Ix> = tip.into_iter().flat_map(|tip| forest.up(tip)).collect();
    let mut order: Vec<Ix> = Vec::new();
    let mut members: HashMap<Ix, Vec<Ix>> = HashMap::new();
    for ix in parents_first(forest) {
        let root = outlines.value(ix).root;
        if wanted.is_none_or(|wanted| wanted == root) {
            let list = members.entry(root).or_default();
            if list.is_empty() {
                order.push(root);
            }
            list.push(ix);
        }
    }
    let mut trees = Vec::new();
    for root in order {
        // Node of each bubb; for an omitted bubb the node of its nearest ancestor.
        let mut node_indices: HashMap<Ix, Option<usize>> = HashMap::new();
        let (mut nodes, mut current) = (Vec::<TreeNode>::new(), 0);
        for ix in members.remove(&root).unwrap_or_default() {
            let name = forest.name(ix);
            let is_root = ix == root && name.role == Role::System;
            let parent = forest.prev(ix).and_then(|prev| node_indices.get(&prev).copied().flatten());
            let is_stopped = stopped.contains(name.id);
            if name.hidden && !hidden && !is_root && !is_stopped {
                node_indices.insert(ix, parent);
                continue;
            }
            let index = nodes.len();
            node_indices.insert(ix, Some(index));
            if let Some(parent) = parent {
                nodes[parent].children.push(index);
            }
            let (text, files) = text(store, &name)?;
            let text = if is_stopped { marked_stopped(&text) } else { text };
            let fact = facts.get(&name.id).cloned().unwrap_or_default();
            nodes.push(TreeNode {
                name,
                is_shown: !name.hidden || is_stopped,
                text,
                parent,
                children: Vec::new(),
                fact,
                files,
            });
            let shown = match tip {
                Some(_) => shown_path.contains(&ix),
                None => !name.hidden || is_stopped,
            };
            if shown {
                current = nodes.len() - 1;
            }
        }
        if nodes.iter().any(|node| !node.name.hidden) {
            let title = titles.get(&forest.name(root).id).cloned();
            let is_titled = title.is_some();
            let title = title.unwrap_or_else(|| question(&nodes));
            trees.push(ExportTree { nodes, title, is_titled, current });
        }
    }
    Ok(trees)
}

/// Returns all bubbs, parents first (hand-made names may be older than their prev), otherwise in the order of
/// their ids.
fn parents_first(forest: &Forest) -> Vec<Ix> {
    let mut seen: HashSet<Ix> = HashSet::with_capacity(forest.len());
    let mut order = Vec::with_capacity(forest.len());
    for ix in forest.all() {
        let from = order.len();
        order.extend(forest.up(ix).take_while(|&above| seen.insert(above)));
        order[from..].reverse();
    }
    order
}

fn question(nodes: &[TreeNode]) -> String {
    let asked = nodes.iter().find(|node| node.name.role == Role::User && !node.name.hidden);
    asked.map(|node| crate::term::excerpt(&excerpt_text(&node.text))).unwrap_or_default()
}

/// Reads a bubb's text, with its attachments split off if all their blobs exist and match their hashes.
fn text(store: &Store, name: &BubbName) -> Result<(String, Vec<ExportedFile>)> {
    let text = store.text(name)?;
    if name.role != Role::User {
        return Ok((text, Vec::new()));
    }
    let (body, attached) = split_attachments(&text);
    let mut files = Vec::new();
    for file in attached {
        let Some((mut blob, _)) = store.open_proven_blob(&file.hash)? else {
            return Ok((text, Vec::new()));
        };
        let mut bytes = Vec::new();
        if std::io::Read::read_to_end(&mut blob, &mut bytes).is_err() {
            return Ok((text, Vec::new()));
        }
        files.push((file, bytes));
    }
    Ok((body.to_string(), files))
}

/// Returns the id of a bubb in the file of another tool.
pub fn id_of(id: BubbId) -> String {
    id.to_string().to_lowercase()
}
