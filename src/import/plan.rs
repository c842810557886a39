//! Maps a conversation to bubbs. Version 4; frozen once released, because a change produces other ids.
//!
//! Only visible text extends a conversation. The rest are leaves and side branches, so later additions move nothing.

use super::files::with_files;
use super::held_back::{HeldBackPart, held_until};
use super::{deferred::DeferredParts, mask::mask, tool_detail::ToolDetail};
use lepo_base::role::Role;
use lepo_import::{History, ImportNode, ImportedFile, NodeContent};
use lepo_store::bubb::{BubbId, BubbName, ContentHash, MAX_TIME, seems_to_name_a_blob};
use lepo_store::store::Blob;
use lepo_turn::is_request_text;

/// Version of this mapping, recorded in the journal.
pub const VERSION: u32 = 4;

/// Time of undated conversations if no `date` is given: the beginning of the year 2000.
pub const NO_TIME: u64 = 946_684_800_000;

/// How many calls back a result searches for its own.
const REACH: usize = 1000;

/// Parameters of the mapping besides the conversation.
#[derive(Debug, Clone, Copy)]
pub struct ImportRules {
    /// How much of tool traffic is imported.
    pub tools: ToolDetail,
    pub date: Option<u64>,
    /// Current time: only decides which parts to withhold, and never enters an id.
    pub now: u64,
    /// Modification time of the source; also only for holding back.
    pub written: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct PlannedBubb {
    pub name: BubbName,
    pub text: String,
    pub blobs: Vec<Vec<u8>>,
    /// Model of an answer.
    pub model: Option<String>,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
}

/// A conversation as bubbs, parents first.
#[derive(Debug, Default)]
pub struct ImportPlan {
    /// May contain a bubb twice.
    pub bubbs: Vec<PlannedBubb>,
    pub held_back: u64,
    /// The first of these that is not empty; visible text is preferred.
    pub first_held: Option<HeldBackPart>,
    pub undated: bool,
    pub labels: Vec<(String, BubbId)>,
    /// Files whose bytes are not in the source.
    pub lost_files: u64,
}

/// Facts of a node that its children need.
#[derive(Debug, Clone, Copy, Default)]
struct NodePosition {
    /// The node that visible text would follow.
    spine: Option<BubbId>,
    /// Bubb of this node, or of its nearest ancestor with one.
    own_id: Option<BubbId>,
    is_side: bool,
    /// Nothing below is imported.
    is_held_back: bool,
    /// The newest call on the path: an index in `calls`, from 1.
    calls: usize,
    /// Hidden parts before the first visible bubb: an index in `waiting`, from 1.
    waiting: usize,
}

struct ImportPlanner<'r> {
    rules: &'r ImportRules,
    nodes: Vec<ImportNode>,
    start: u64,
    /// Time of undated nodes, for holding back.
    known: Option<u64>,
    plan: ImportPlan,
    /// A call's node, its bubb, and the index of the previous call.
    calls: Vec<(usize, BubbId, usize)>,
    waiting: DeferredParts,
}

pub fn plan(conversation: History, rules: &ImportRules) -> ImportPlan {
    let History { start, grows, updated, mut nodes, labels, .. } = conversation;
    nodes.iter_mut().filter(|node| node.ready.is_none()).for_each(|node| mask(&mut node.what));
    // An undated message is as old as the newest dated one, or the conversation, or the file.
    let newest = nodes.iter().filter_map(|node| node.time).max();
    let since = newest.or(start).or(rules.written);
    let has_date = newest.or(start).or(updated).is_none() && rules.date.is_some();
    let settled = |node: &ImportNode| has_date || held_until(node, since).is_some_and(|at| at <= rules.now);
    // Hidden parts alone are not a conversation, so there is nothing to withhold.
    let grows =
        grows && nodes.iter().any(|node| matches!(node.what, NodeContent::Text(..) | NodeContent::Exact(..)));
    let recent: Vec<bool> = nodes.iter().map(|node| grows && node.last && !settled(node)).collect();
    // Without a start time, the conversation starts at its earliest message.
    let earliest = nodes.iter().filter_map(|node| node.time).min();
    let known = start.or(earliest).or(updated);
    let mut planner = ImportPlanner {
        rules,
        start: known.or(rules.date).unwrap_or(NO_TIME),
        known: since,
        plan: ImportPlan {
            undated: known.is_none(),
            bubbs: Vec::with_capacity(nodes.len()),
            ..ImportPlan::default()
        },
        calls: Vec::new(),
        waiting: DeferredParts::new(),
        nodes,
    };
    let positions = planner.walk(&recent);
    for (label, node) in labels {
        if let Some(id) = positions.get(node).and_then(|position| position.spine) {
            planner.plan.labels.push((label, id));
        }
    }
    planner.plan
}

impl ImportPlanner<'_> {
    fn walk(&mut self, recent: &[bool]) -> Vec<NodePosition> {
        const NONE: usize = usize::MAX;
        let count = self.nodes.len();
        let (mut first, mut next, mut roots) = (vec![NONE; count], vec![NONE; count], NONE);
        for index in (0..count).rev() {
            let head = match self.nodes[index].parent {
                Some(parent) if parent < count => &mut first[parent],
                _ => &mut roots,
            };
            next[index] = std::mem::replace(head, index);
        }
        let mut positions = vec![NodePosition::default(); count];
        let mut stack = vec![roots];
        while let Some(index) = stack.pop() {
            if index == NONE {
                continue;
            }
            stack.push(next[index]);
            stack.push(first[index]);
            let above = match self.nodes[index].parent {
                Some(parent) if parent < count => positions[parent],
                _ => NodePosition::default(),
            };
            positions[index] = match above.is_held_back || recent[index] {
                true => {
                    self.hold_back(index);
                    NodePosition { is_held_back: true, ..above }
                }
                false => self.visit(index, above),
            };
        }
        positions
    }

    fn hold_back(&mut self, index: usize) {
        let Some(held) = HeldBackPart::from_node(&self.nodes[index], self.known) else { return };
        self.plan.held_back += 1;
        // For the report, visible text is preferred to an earlier hidden part.
        if self.plan.first_held.as_ref().is_none_or(|first| first.hidden && !held.hidden) {
            self.plan.first_held = Some(held);
        }
    }

    fn visit(&mut self, index: usize, above: NodePosition) -> NodePosition {
        // A deferred part may be used below several first messages, so it is not moved.
        let what = match above.spine {
            None => self.nodes[index].what.clone(),
            Some(_) => std::mem::replace(&mut self.nodes[index].what, NodeContent::Nothing),
        };
        match what {
            NodeContent::Nothing => above,
            NodeContent::Text(role, text, files) => {
                let (text, blobs) = self.with_files(role, text, files);
                if text.is_empty() {
                    return above;
                }
                if above.is_side {
                    return self.side(index, above, role, text);
                }
                let prev = above.spine.or_else(|| self.root(above.waiting));
                let id = self.emit(index, prev, role, false, text, blobs);
                let begun = NodePosition {
                    spine: Some(id),
                    own_id: Some(id),
                    calls: above.calls,
                    ..NodePosition::default()
                };
                self.release(above.waiting, prev.unwrap_or(id), begun)
            }
            NodeContent::Side(role, text) if !text.is_empty() => self.side(index, above, role, text),
            NodeContent::Exact(role, hidden, text) if !text.is_empty() => {
                let prev = above.own_id.or_else(|| self.root(above.waiting));
                let id = self.emit(index, prev, role, hidden, text, Vec::new());
                let begun = NodePosition { spine: Some(id), own_id: Some(id), waiting: 0, ..above };
                self.release(above.waiting, prev.unwrap_or(id), begun)
            }
            NodeContent::Side(..) | NodeContent::Exact(..) => above,
            hidden if above.spine.is_some() => self.add_hidden(index, above, hidden),
            _ => self.wait(index, above),
        }
    }

    /// Adds a message of a subagent: below the call that started it, or after its previous message.
    fn side(&mut self, index: usize, above: NodePosition, role: Role, text: String) -> NodePosition {
        let prev = if above.is_side { above.spine } else { above.own_id };
        if self.rules.tools == ToolDetail::None {
            return NodePosition { spine: None, own_id: None, is_side: true, ..above };
        }
        if prev.is_none() {
            return self.wait(index, above);
        }
        let id = self.emit(index, prev, role, true, text, Vec::new());
        NodePosition { spine: Some(id), own_id: Some(id), is_side: true, ..above }
    }

    /// Adds a hidden part as a child of the visible bubb before it.
    fn add_hidden(&mut self, index: usize, above: NodePosition, what: NodeContent) -> NodePosition {
        let prev = above.spine;
        let id = match what {
            NodeContent::System(text) => self.leaf(index, prev, Role::System, text),
            NodeContent::Aside(role, text) | NodeContent::Side(role, text) => {
                self.leaf(index, prev, role, text)
            }
            NodeContent::Call { .. } | NodeContent::Output { .. } if self.rules.tools == ToolDetail::None => {
                None
            }
            NodeContent::Call { id, name, input } => {
                let text = self.cut(index, input);
                let text = ([&name, "\n", &text.0].concat(), text.1);
                let bubb = self.emit(index, prev, Role::Assistant, true, text.0, text.1);
                // Later results search for this id. A deferred node was cloned and still has it.
                let node = &mut self.nodes[index];
                if matches!(node.what, NodeContent::Nothing) {
                    node.what = NodeContent::Call { id, name: String::new(), input: String::new() };
                }
                self.calls.push((index, bubb, above.calls));
                return NodePosition { own_id: Some(bubb), calls: self.calls.len(), ..above };
            }
            NodeContent::Output { call, text, files } => {
                let (mut text, mut blobs) = self.cut(index, text);
                let (lines, more) = match self.rules.tools {
                    ToolDetail::Full => self.with_files(Role::Tool, String::new(), files),
                    _ => (files.iter().map(left_out).collect::<Vec<_>>().join("\n"), Vec::new()),
                };
                if !lines.is_empty() {
                    text = if text.is_empty() { lines } else { format!("{text}\n{lines}") };
                }
                blobs.extend(more);
                let under = self.call(&call, above.calls).or(prev);
                (!text.is_empty()).then(|| self.emit(index, under, Role::Tool, true, text, blobs))
            }
            _ => None,
        };
        NodePosition { own_id: id.or(above.own_id), ..above }
    }

    fn leaf(&mut self, index: usize, prev: Option<BubbId>, role: Role, text: String) -> Option<BubbId> {
        (!text.is_empty()).then(|| self.emit(index, prev, role, true, text, Vec::new()))
    }

    /// Finds the bubb of the call with this id; without an id, of the latest call.
    fn call(&self, id: &str, from: usize) -> Option<BubbId> {
        let mut at = from;
        for _ in 0..REACH {
            let (node, bubb, before) = *self.calls.get(at.checked_sub(1)?)?;
            match &self.nodes[node].what {
                _ if id.is_empty() => return Some(bubb),
                NodeContent::Call { id: found, .. } if found == id => return Some(bubb),
                _ => at = before,
            }
        }
        None
    }

    /// Shortens a tool's text; the blob contains the whole text.
    fn cut(&self, index: usize, text: String) -> (String, Vec<Vec<u8>>) {
        if self.nodes[index].ready.is_some() {
            return (text, Vec::new());
        }
        match self.rules.tools.cut(text) {
            (cut, None) => (cut, Vec::new()),
            (cut, Some(whole)) => {
                let blob =
                    Blob { hash: ContentHash::from_content(whole.as_bytes()), len: whole.len() as u64 };
                (format!("{cut}\n{}", blob.line()), vec![whole.into_bytes()])
            }
        }
    }

    /// Defers a node until the first visible bubb.
    fn wait(&mut self, node: usize, above: NodePosition) -> NodePosition {
        let is_prompt = matches!(&self.nodes[node].what, NodeContent::System(text) if !text.is_empty());
        NodePosition { waiting: self.waiting.add(node, above.waiting, is_prompt), ..above }
    }

    /// Makes the first deferred system prompt the root.
    fn root(&mut self, waiting: usize) -> Option<BubbId> {
        let (prompt, node) = self.waiting.prompt(waiting)?;
        if let Some(id) = self.waiting.root(prompt) {
            return Some(id);
        }
        let NodeContent::System(text) = &self.nodes[node].what else { return None };
        let text = text.clone();
        let id = self.emit(node, None, Role::System, true, text, Vec::new());
        self.waiting.set_root(prompt, id);
        Some(id)
    }

    /// Adds the deferred nodes as children of the first visible bubb, or of the root.
    fn release(&mut self, waiting: usize, first_visible: BubbId, begun: NodePosition) -> NodePosition {
        let is_rooted = begun.spine != Some(first_visible);
        let root = self.waiting.prompt(waiting).map(|(_, node)| node).filter(|_| is_rooted);
        let mut calls = begun.calls;
        for node in self.waiting.release(waiting, |node| self.nodes[node].what.size()) {
            if root == Some(node) {
                continue;
            }
            let what = self.nodes[node].what.clone();
            let above = NodePosition {
                spine: Some(first_visible),
                own_id: Some(first_visible),
                calls,
                ..NodePosition::default()
            };
            calls = self.add_hidden(node, above, what).calls;
        }
        NodePosition { calls, ..begun }
    }

    /// Appends a line for each file; returns the text and the blobs.
    fn with_files(&mut self, role: Role, text: String, files: Vec<ImportedFile>) -> (String, Vec<Vec<u8>>) {
        if files.is_empty() {
            return (text, Vec::new());
        }
        let (text, blobs, lost) = with_files(role, &text, files);
        self.plan.lost_files += lost;
        (text, blobs)
    }

    /// Adds a bubb. Its time is the source's, but always after the time of `prev`.
    fn emit(
        &mut self,
        index: usize,
        prev: Option<BubbId>,
        role: Role,
        hidden: bool,
        mut text: String,
        blobs: Vec<Vec<u8>>,
    ) -> BubbId {
        let node = &mut self.nodes[index];
        let own = |text: &str| {
            (hidden && is_request_text(text)) || (blobs.is_empty() && seems_to_name_a_blob(text))
        };
        let content = match node.ready {
            Some(ready) => {
                debug_assert!(!own(&text));
                ready.into()
            }
            None => {
                if own(&text) {
                    text.push('\n');
                }
                ContentHash::from_content(text.as_bytes())
            }
        };
        let time = match prev {
            Some(prev) => node.time.unwrap_or(0).max(prev.time() + 1),
            None => node.time.unwrap_or(self.start),
        };
        let id = BubbId::new(time.min(MAX_TIME), role, hidden, prev, &content);
        self.plan.bubbs.push(PlannedBubb {
            name: BubbName { id, role, hidden, prev },
            text,
            blobs,
            model: node.model.take(),
            input: node.input.take(),
            output: node.output.take(),
        });
        id
    }
}

fn left_out(file: &ImportedFile) -> String {
    match &file.data {
        Some(bytes) => format!("[{} {} bytes left out]", file.mime, bytes.len()),
        None => format!("[{} left out]", file.mime),
    }
}
