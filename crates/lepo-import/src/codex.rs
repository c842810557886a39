//! Codex: one JSONL log a thread, plain or packed with zstd, below `sessions/`.
//!
//! Events repeat the messages of `response_item` records; an event is read only if no record has its message. A thread
//! that continues another contains a copy of it, with the old times or with new ones, or refers to it. All three result
//! in the parent's bubbs if the parent's log exists.

use std::path::{Path, PathBuf};

use super::ConversationSink;
use super::codex_records::{CodexContent, CodexRecord};
use super::conversation::{History, NodeContent};
use super::echoes::{Echo, Echoes, EventKind};
use super::source::{ALONE, SourceReader};
use super::threads::{CodexThread, CodexThreads};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Maximum length of a chain of threads that continue each other.
const DEEP: usize = 64;

/// Reads a thread, with the threads that it continues and with its subagents.
pub fn read(
    path: &Path,
    threads: &CodexThreads,
    reading: &mut SourceReader,
    each: &mut ConversationSink<'_>,
) -> Result<()> {
    let Some(own) = CodexThread::read(path) else {
        reading.tally.skip("not a Codex session", 1);
        return Ok(());
    };
    // A subagent is read with the thread that started it.
    let begun_by = own.begun_by.as_ref().filter(|parent| **parent != own.id);
    if let Some(session) = begun_by.and_then(|parent| threads.find(parent)) {
        if !threads.logs_of(&session.id).any(|log| reading.named.contains(&log.path)) {
            reading.tally.skip_file(ALONE, path, None);
        }
        return Ok(());
    }
    let mut log = lineage(&own, threads, reading)?;
    // If a thread was rewound, each log has only the subagents started while it was written.
    let (from, until) = (own.start.filter(|_| own.continues_itself()), threads.until(&own));
    let is_own = |agent: &&CodexThread| {
        agent.begun_by(&own.id)
            && from.is_none_or(|from| agent.start.is_none_or(|start| start >= from))
            && until.is_none_or(|until| agent.start.is_none_or(|start| start < until))
    };
    log.mark_last();
    let mut agents: Vec<&CodexThread> = threads.all.iter().filter(is_own).collect();
    agents.sort_by_key(|thread| (thread.start, thread.path.clone()));
    for agent in agents {
        let under = log.call_for(agent);
        let mut side = CodexLog::default();
        side.read(agent, 0, reading)?;
        log.add_side(side, under);
    }
    let CodexLog { mut conversation, .. } = log;
    (conversation.id, conversation.dir, conversation.start) = (own.id, own.dir, own.start);
    conversation.grows = true;
    each(conversation)
}

/// Reads a thread's log after the logs of the threads that it continues.
fn lineage(own: &CodexThread, threads: &CodexThreads, reading: &mut SourceReader) -> Result<CodexLog> {
    let mut line = vec![own.clone()];
    while let Some(last) = line.last()
        && let Some(parent) = last.parent.clone()
    {
        let found = threads.before(last).filter(|found| line.iter().all(|known| known.path != found.path));
        match found {
            Some(found) if line.len() < DEEP => line.push(found.clone()),
            _ => {
                reading.tally.remark(format!(
                    "{}: its parent thread {parent} is missing: imported without it",
                    own.path.display()
                ));
                break;
            }
        }
    }
    let mut log = CodexLog::default();
    let mut before = CodexLog::default();
    for (index, thread) in line.iter().rev().enumerate() {
        let by_reference = thread.base.filter(|_| index > 0);
        if let Some(end) = by_reference {
            log.cut(end);
            log.read(thread, 0, reading)?;
        } else {
            before = std::mem::take(&mut log);
            log.read(thread, 0, reading)?;
            log.take_times(&before);
        }
    }
    drop(before);
    Ok(log)
}

/// The content of a thread's log, read so far.
#[derive(Default)]
struct CodexLog {
    conversation: History,
    /// The last node so far.
    at: Option<usize>,
    /// The node before each visible question.
    turns: Vec<Option<usize>>,
    /// For each record: its ordinal, the last node, and the number of turns after it.
    ends: Vec<(u64, Option<usize>, usize)>,
    model: Option<String>,
    /// The first node of the last record that had nodes.
    last: usize,
    /// The answer that the next token counts are for.
    answer: Option<usize>,
    /// The last turn ended, so its nodes are final.
    has_ended: bool,
    ordinal: u64,
    /// Pairs the messages of events with the messages of records.
    echoes: Echoes,
    /// The last record is a message that lepo exported. Its event repeats it, whatever the message's role.
    was_exported: bool,
}

impl CodexLog {
    /// Appends a log, without the records before ordinal `from`.
    fn read(&mut self, thread: &CodexThread, from: u64, reading: &mut SourceReader) -> Result<()> {
        let from = from.max(thread.own_from);
        let mut values = reading.lines(&thread.path)?;
        while let Some(line) = reading.next(&mut values)? {
            let record = CodexRecord::parse(line);
            let ordinal = record.ordinal.unwrap_or(self.ordinal);
            self.ordinal = ordinal.saturating_add(1);
            if ordinal >= from {
                self.add_record(record.content, reading);
            }
            self.ends.push((ordinal, self.at, self.turns.len()));
        }
        Ok(())
    }

    /// Truncates to the records before ordinal `end`.
    fn cut(&mut self, end: u64) {
        self.ends.retain(|(ordinal, ..)| *ordinal < end);
        let (ordinal, at, turns) = self.ends.last().copied().unwrap_or_default();
        self.at = at;
        self.turns.truncate(turns);
        // Later nodes belong to the parent alone; the rest of this thread does not follow them.
        self.conversation.nodes.truncate(at.map_or(0, |at| at + 1));
        self.ordinal = ordinal.saturating_add(1);
        self.echoes = Echoes::default();
        // The records that follow imply that the last turn is complete.
        (self.last, self.answer, self.has_ended) = (self.conversation.nodes.len(), None, true);
    }

    /// Copies the times of another log as far as its nodes are equal: a copied thread may have new times.
    fn take_times(&mut self, other_log: &CodexLog) {
        let same = |one: &NodeContent, other: &NodeContent| format!("{one:?}") == format!("{other:?}");
        let says = |node: &&super::conversation::ImportNode| !matches!(node.what, NodeContent::Nothing);
        let theirs = other_log.conversation.nodes.iter().filter(says);
        let ours =
            self.conversation.nodes.iter_mut().filter(|node| !matches!(node.what, NodeContent::Nothing));
        for (node, other) in ours.zip(theirs) {
            if !same(&node.what, &other.what) {
                break;
            }
            node.time = other.time;
        }
    }

    fn add_record(&mut self, content: CodexContent, reading: &mut SourceReader) {
        let was_exported = std::mem::take(&mut self.was_exported);
        match content {
            CodexContent::Nothing => {}
            CodexContent::Part(part) => self.add(part),
            CodexContent::Echo(..) if was_exported => {}
            CodexContent::Echo(part, kind) => self.echo(part, kind),
            CodexContent::Exported(part) => {
                self.was_exported = true;
                self.message(part);
            }
            CodexContent::Message(part) => {
                if let Some(echo) = self.echoes.record(&part) {
                    self.forget(echo);
                }
                self.message(part);
            }
            CodexContent::Compacted(part, summary) => {
                self.hide_summary(&summary);
                self.answer = None;
                self.add(part);
            }
            CodexContent::Ended => self.has_ended = true,
            CodexContent::Model(model) => self.model = model.or(self.model.take()),
            CodexContent::RolledBack(back) => {
                let keep = self.turns.len().saturating_sub(back);
                if let Some(&before) = self.turns.get(keep) {
                    self.at = before;
                    self.turns.truncate(keep);
                }
            }
            CodexContent::Tokens(input, output) => {
                // Later counts repeat these, or count calls only.
                if (input.is_some() || output.is_some())
                    && let Some(node) =
                        self.answer.take().and_then(|index| self.conversation.nodes.get_mut(index))
                {
                    (node.input, node.output) = (input, output);
                }
            }
            CodexContent::UnknownRecord(kind) => reading.tally.skip(&format!("unknown record {kind:?}"), 1),
            CodexContent::UnknownContent => self.conversation.unknown_content(),
        }
    }

    /// Adds the message of an event, unless a record had it already.
    fn echo(&mut self, part: History, kind: EventKind) {
        if !self.echoes.is_new(&part, kind) {
            return;
        }
        let (turns, first) = (self.turns.len(), self.conversation.nodes.len());
        self.message(part.clone());
        let (end, turn) = (self.conversation.nodes.len(), (self.turns.len() > turns).then_some(turns));
        self.echoes.add(&part, Echo { first, end, turn });
    }

    /// Removes the message of an event, because a record has it too.
    fn forget(&mut self, echo: Echo) {
        let nodes = self.conversation.nodes.get_mut(echo.first..echo.end).unwrap_or_default();
        nodes.iter_mut().for_each(|node| node.what = NodeContent::Nothing);
        self.conversation.messages = self.conversation.messages.saturating_sub(1);
        if echo.turn.is_some_and(|turn| turn + 1 == self.turns.len()) {
            self.turns.pop();
        }
    }

    fn message(&mut self, part: History) {
        let (before, model) = (self.at, self.model.clone());
        self.add(part);
        let nodes = &self.conversation.nodes[self.last..];
        // A message that lepo exported as a question is a question in the log, whatever its role was.
        let is_question = |what: &NodeContent| {
            matches!(
                what,
                NodeContent::Text(Role::User, ..) | NodeContent::Exact(Role::System | Role::Tool, ..)
            )
        };
        if nodes.iter().any(|node| is_question(&node.what)) {
            self.turns.push(before);
        }
        let model = nodes.iter().find_map(|node| node.model.clone()).or(model);
        self.conversation.answered_by(self.last, model.as_deref(), None, None);
        let new = self.conversation.nodes.iter().enumerate().skip(self.last);
        let answer = new.filter(|(_, node)| node.is_answer()).map(|(index, _)| index).next_back();
        self.answer = answer.or(self.answer);
    }

    /// Appends the nodes of a record.
    fn add(&mut self, part: History) {
        self.last = self.conversation.nodes.len();
        self.conversation.append(part, self.at);
        self.at = self.conversation.nodes.len().checked_sub(1);
        self.has_ended = false;
    }

    /// Removes the answer that was the summary of a compaction, because the compaction repeats it.
    fn hide_summary(&mut self, summary: &str) {
        let nodes = self.conversation.nodes.iter_mut().rev();
        let last = nodes.take(8).find(|node| !matches!(node.what, NodeContent::Nothing));
        if let Some(node) = last
            && let NodeContent::Text(Role::Assistant, text, files) = &node.what
            && files.is_empty()
            && summary.ends_with(text.as_str())
        {
            node.what = NodeContent::Nothing;
        }
    }

    fn mark_last(&mut self) {
        if self.has_ended {
            return;
        }
        for node in self.conversation.nodes.iter_mut().skip(self.last) {
            node.last = true;
        }
    }

    /// Finds the call that started a subagent: the last call before the first result that contains the subagent's id,
    /// else the last call before the subagent's start, else the first message.
    fn call_for(&self, agent: &CodexThread) -> Option<usize> {
        let nodes = &self.conversation.nodes;
        let named = nodes.iter().position(|node| match &node.what {
            NodeContent::Output { text, .. } => text.contains(&agent.id),
            _ => false,
        });
        let calls =
            nodes.iter().enumerate().filter(|(_, node)| matches!(node.what, NodeContent::Call { .. }));
        let before = calls.filter(|(index, node)| match named {
            Some(named) => *index < named,
            None => node.time <= agent.start,
        });
        before.map(|(index, _)| index).next_back().or_else(|| self.conversation.first_visible_text())
    }

    /// Adds a subagent's log, hidden, under a call.
    fn add_side(&mut self, side: CodexLog, under: Option<usize>) {
        let shift = self.conversation.nodes.len();
        let has_ended = side.has_ended;
        for (index, mut node) in side.conversation.nodes.into_iter().enumerate() {
            node.parent = node.parent.map(|parent| parent + shift).or(under);
            node.last = !has_ended && index >= side.last;
            node.what = match node.what {
                NodeContent::Text(role, text, _) => NodeContent::Side(role, text),
                what => what,
            };
            self.conversation.nodes.push(node);
        }
        self.conversation.messages += side.conversation.messages;
        self.conversation.skip_with(side.conversation.skipped);
    }
}

/// Sorts the logs: threads that others continue come first.
pub fn in_order(mut paths: Vec<PathBuf>, threads: &CodexThreads) -> Vec<PathBuf> {
    let depth = |path: &PathBuf| {
        let mut thread = threads.all.iter().find(|thread| thread.path == *path);
        let mut depth = 0;
        while let Some(before) = thread.and_then(|thread| threads.before(thread)).filter(|_| depth < DEEP) {
            thread = Some(before);
            depth += 1;
        }
        depth
    };
    paths.sort_by_cached_key(|path| (depth(path), path.clone()));
    paths
}
