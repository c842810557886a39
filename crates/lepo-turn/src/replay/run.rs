//! Runs a line of a replay: each step is an ordinary turn for a stored question.

use std::future::Future;

use futures_util::future::join_all;

use super::plan::{ReplayPlan, ReplayStep};
use super::results::RecordedResults;
use crate::attach::NewFile;
use crate::config::Insts;
use crate::{Outcome, Question, TurnEnv, TurnRequest, TurnStart, View, execute_turn};
use lepo_base::error::{Error, Result};
use lepo_model::ModelConfig;
use lepo_store::bubb::{Attachment, BubbId, BubbName, split_attachments};
use lepo_store::conv::{Forest, ReadScope};
use lepo_store::store::{Store, note_copy, plan_copies_of_now, write_copies};

/// A line of a replay, as far as it succeeded.
#[derive(Debug)]
pub struct ReplayOutcome {
    /// The model's configured name.
    pub name: String,
    /// The end of the line; the base if nothing was written.
    pub tail: Option<BubbId>,
    /// The turns, each with its step.
    pub turns: Vec<(ReplayStep, Outcome)>,
    /// The number of remaining steps.
    pub remaining: usize,
    /// The error that interrupted it.
    pub error: Option<Error>,
}

/// The display of a line.
pub trait ReplayObserver {
    /// Reports that question `number` of all questions is asked next.
    fn on_question(&mut self, number: usize, total: usize);

    /// Returns the display of a turn.
    fn view(&mut self) -> &mut dyn View;
}

/// Runs several lines concurrently, and returns them in order.
pub async fn all(lines: impl IntoIterator<Item = impl Future<Output = ReplayOutcome>>) -> Vec<ReplayOutcome> {
    join_all(lines).await
}

/// Asks the questions of a plan. An error is returned in the line, together with the answers so far.
pub async fn replay(
    (env, config, insts): (&TurnEnv, &ModelConfig, &Insts),
    old: &Forest,
    plan: ReplayPlan,
    apart: u64,
    observer: &mut dyn ReplayObserver,
) -> ReplayOutcome {
    let (total, answered) = (plan.steps.len() + plan.answered, plan.answered);
    let remaining = plan.steps.len();
    let mut line = ReplayOutcome {
        name: config.name.clone(),
        tail: plan.base,
        turns: Vec::new(),
        remaining,
        error: None,
    };
    for (index, step) in plan.steps.into_iter().enumerate() {
        observer.on_question(answered + index, total);
        let result = run(env, config, insts, (old, &step, apart), &mut line.tail, observer.view()).await;
        let mut outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                line.error = Some(error);
                return line;
            }
        };
        if let Some(answer) = &outcome.answer {
            line.tail = Some(answer.name.id);
            line.remaining -= 1;
        }
        line.error = outcome.error.take();
        if let Some(error) = &line.error {
            outcome.error = Some(error.with_kind(error.kind));
        }
        line.turns.push((step, outcome));
        if line.error.is_some() {
            return line;
        }
    }
    match copy(&env.store, line.tail, &plan.rest, apart) {
        Ok(tail) => line.tail = tail.or(line.tail),
        Err(error) => line.error = Some(error),
    }
    line
}

/// Copies the messages before an answer, and requests the answer.
async fn run(
    env: &TurnEnv,
    config: &ModelConfig,
    insts: &Insts,
    (old, step, apart): (&Forest, &ReplayStep, u64),
    tail: &mut Option<BubbId>,
    view: &mut dyn View,
) -> Result<Outcome> {
    let recorded = match old.find(step.question.id) {
        Some(ix) => RecordedResults::after(&env.store, old, &env.store.journal().index(), ix)?,
        None => RecordedResults::default(),
    };
    let before = step.copied.split_last().map_or(&[][..], |(_, before)| before);
    let (start, question) = match (step.existing, *tail) {
        (Some(question), _) => (TurnStart::Again(question), None),
        // The recorded question is a root: it had no system prompt.
        (None, None) if before.is_empty() => (TurnStart::New, Some(as_asked(&env.store, &step.question)?)),
        (None, base) => {
            let copied = copy(&env.store, base, before, apart)?.or(base);
            let copied = copied.ok_or_else(|| Error::usage("a question of the conversation is missing"))?;
            (TurnStart::Under(copied), Some(as_asked(&env.store, &step.question)?))
        }
    };
    *tail = start.id();
    let scope = start.id().map_or(ReadScope::Tip, |at| ReadScope::Ids(vec![at]));
    let forest = env.store.forest_for(&[scope])?;
    let is_new = question.is_some();
    let ask = TurnRequest {
        results: Some(recorded),
        system_prompt: Some(String::new()),
        ..TurnRequest::new(start, question, &[])
    };
    let outcome = execute_turn(env, config, insts, &forest, view, ask).await?;
    if let Some(question_id) = outcome.user.filter(|_| is_new) {
        *tail = Some(question_id);
        let forest = env.store.forest_for(&[ReadScope::Ids(vec![question_id])])?;
        if let Some(ix) = forest.find(question_id) {
            note_copy(&env.store, step.question, forest.name(ix))?;
        }
    }
    Ok(outcome)
}

/// Reads a stored question, with its files.
fn as_asked(store: &Store, name: &BubbName) -> Result<Question> {
    let text = store.text(name)?;
    let (text_alone, attached) = split_attachments(&text);
    let peers = store.peers().iter().map(|(_, other)| other);
    let stores: Vec<&Store> = std::iter::once(store).chain(peers).collect();
    let file = |attachment: &Attachment| {
        let bytes = stores.iter().find_map(|store| store.blob_bytes(&attachment.hash));
        let bytes = bytes.ok_or_else(|| {
            Error::store(format!("the file {} of question {} is missing", attachment.name, name.id))
                .hint("lepo fsck names missing blobs; --from can start after this question")
        })?;
        NewFile::read(&attachment.name, bytes)
    };
    let files = attached.iter().map(file).collect::<Result<_>>()?;
    Ok(Question { files, ..Question::from(text_alone.to_string()) })
}

/// Copies messages as a chain of new ones, durably, and returns the last. The copies of several lines are
/// `apart` milliseconds apart.
fn copy(store: &Store, base: Option<BubbId>, originals: &[BubbName], apart: u64) -> Result<Option<BubbId>> {
    let not_before = match base {
        None => store.forest_for(&[ReadScope::Tip])?.root_time(),
        Some(_) => lepo_store::store::now(),
    };
    let copies = plan_copies_of_now(store, base, originals, not_before + apart)?;
    write_copies(store, None, &copies)?;
    Ok(copies.last().map(|copy| copy.name.id))
}
