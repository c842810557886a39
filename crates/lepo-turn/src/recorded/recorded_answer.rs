//! A recorded answer as the outcome of a turn.

use super::query::{AnswerOnRecord, RecordStore};
use crate::body::Body;
use crate::outcome::{FinishedAnswer, ToolUse};
use crate::{Outcome, TurnEvent, View};
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_model::Usage;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::Ix;
use lepo_store::store::{JournalRecord, Store};

/// A recorded answer.
#[derive(Debug, Clone)]
pub struct RecordedAnswer {
    /// Name of the answer.
    pub answer: BubbName,
    /// The model that answered.
    pub model: Option<String>,
    question: BubbId,
    conv: Vec<BubbId>,
    tools: Vec<ToolUse>,
    usage: Usage,
    ms: u64,
    is_json: bool,
}

pub(super) fn hit(
    record: &RecordStore<'_>,
    answer: &AnswerOnRecord,
    fact: JournalRecord,
    is_json: bool,
) -> Result<RecordedAnswer> {
    let name = record.forest.name(answer.ix);
    let path = record.forest.conv(answer.ix).path;
    let mut tools = own_commands(record, answer.question)?;
    tools.extend(requests(record, &answer.between)?);
    tools.extend(requests(record, &side_branch(record, answer))?);
    Ok(RecordedAnswer {
        answer: name,
        question: record.forest.name(answer.question).id,
        conv: path.into_iter().map(|ix| record.forest.name(ix).id).collect(),
        tools,
        usage: usage(&fact),
        ms: fact.ms.unwrap_or_default(),
        model: fact.model,
        is_json,
    })
}

/// Returns the commands that the user ran before a question.
fn own_commands(record: &RecordStore<'_>, question: Ix) -> Result<Vec<ToolUse>> {
    let mut runs = Vec::new();
    for ix in record.forest.up(question).skip(1) {
        let name = record.forest.name(ix);
        if name.hidden || name.role != Role::System {
            break;
        }
        let text = record.store.text(&name)?;
        let Some(command) = text.lines().next().and_then(|line| line.strip_prefix("$ ")) else { break };
        let request = serde_json::json!({ "command": command });
        let exit = record.facts.get(name.id).and_then(|fact| fact.exit);
        runs.push(ToolUse { bubb: name.id, kind: "run", request, result: Some(name.id), exit });
    }
    runs.reverse();
    Ok(runs)
}

/// Returns the hidden sibling messages that led to an answer: they follow the same message as the answer, and
/// are newer than earlier answers there.
fn side_branch(record: &RecordStore<'_>, answer: &AnswerOnRecord) -> Vec<Ix> {
    let Some(base) = record.forest.prev(answer.ix) else { return Vec::new() };
    let id = record.forest.name(answer.ix).id;
    let is_beside = |ix: &Ix| record.forest.name(*ix).hidden && !answer.between.contains(ix);
    let from = record.forest.name(base).id;
    let mut newest: Vec<Ix> = Vec::new();
    for ix in record.forest.between(from, id).filter(is_beside) {
        let up = record.forest.up(ix).take_while(|above| *above != base);
        let mut path: Vec<Ix> = up.collect();
        let top = path.last().and_then(|top| record.forest.prev(*top));
        if top == Some(base) && path.iter().all(is_beside) {
            path.reverse();
            newest = path;
        }
    }
    // An earlier answer to the question ended the previous side branch.
    let starts = newest.first().map(|ix| record.forest.name(*ix).id);
    let ended = record.forest.between(from, id).any(|ix| {
        let name = record.forest.name(ix);
        let is_earlier = !name.hidden && name.prev == Some(from) && name.id < id;
        is_earlier && starts.is_some_and(|starts| starts < name.id)
    });
    if ended { Vec::new() } else { newest }
}

/// Returns the requests among hidden messages, each with its result.
fn requests(record: &RecordStore<'_>, hidden: &[Ix]) -> Result<Vec<ToolUse>> {
    let mut tools: Vec<ToolUse> = Vec::new();
    let mut waits = false;
    for &ix in hidden {
        let name = record.forest.name(ix);
        let text = record.store.text(&name)?;
        if let Some(request) = Body::read_named(&name, &text).into_request() {
            // The user edited the request that is directly followed by another.
            if waits {
                tools.pop();
            }
            waits = true;
            let (kind, request) = (request.kind(), request.to_json());
            tools.push(ToolUse { bubb: name.id, kind, request, result: None, exit: None });
        } else if std::mem::take(&mut waits)
            && let Some(used) = tools.last_mut()
        {
            used.result = Some(name.id);
            used.exit = record.facts.get(name.id).and_then(|fact| fact.exit);
        }
    }
    Ok(tools)
}

/// Returns the tokens in a line of the journal.
pub(super) fn usage(fact: &JournalRecord) -> Usage {
    Usage { input: fact.input, output: fact.output, cached: fact.cached, ..Usage::default() }
}

impl RecordedAnswer {
    /// Returns the outcome of the turn that the answer replaces.
    pub fn outcome(self) -> Outcome {
        Outcome {
            conv: self.conv,
            user: Some(self.question),
            model: self.model,
            answer: Some(FinishedAnswer { name: self.answer, usage: self.usage, cut: None, ms: self.ms }),
            is_json: self.is_json,
            tools: self.tools,
            recorded: Some(self.answer.id),
            ..Outcome::default()
        }
    }

    /// Returns the answer in the form of a turn's answer.
    pub fn to_finished_answer(&self) -> FinishedAnswer {
        FinishedAnswer { name: self.answer, usage: self.usage, cut: None, ms: self.ms }
    }
}

/// Displays a recorded answer like the answer of a turn.
pub fn show_answer(store: &Store, hit: &RecordedAnswer, view: &mut dyn View) -> Result<()> {
    let text = store.text(&hit.answer)?;
    view.on_event(TurnEvent::Text(&text));
    view.on_event(TurnEvent::Pause);
    view.on_event(TurnEvent::Done);
    Ok(())
}
