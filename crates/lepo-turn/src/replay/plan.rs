//! The steps of a replay: the messages to copy, the questions to ask, and the start of the new line.

use std::collections::{HashMap, HashSet};

use crate::body::Body;
use crate::next_question::is_form_message;
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::Store;

/// The options of the command line, as messages of a forest.
#[derive(Debug, Clone, Copy)]
pub struct ReplayOptions {
    /// The end of the line.
    pub end: Ix,
    /// The first message to replay; the new line shares the messages before it.
    pub from: Option<Ix>,
    /// The message that the new line follows.
    pub onto: Option<Ix>,
    /// Whether the new line gets its own root with another system prompt.
    pub new_system: bool,
    /// Whether each answer is requested on the recorded past.
    pub teacher: bool,
}

/// A question of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayStep {
    /// The messages to copy first, ending with the question; empty if the question exists already.
    pub copied: Vec<BubbName>,
    /// The question as recorded.
    pub question: BubbName,
    /// The existing question to answer; `None` if it is the last copy.
    pub existing: Option<BubbId>,
    /// The recorded answer.
    pub answer: Option<BubbName>,
}

/// The steps of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayPlan {
    /// The message that the first copies follow; `None` starts a conversation.
    pub base: Option<BubbId>,
    /// The questions to ask, in order.
    pub steps: Vec<ReplayStep>,
    /// The messages after the last question and its answer, which are copied at the end.
    pub rest: Vec<BubbName>,
    /// The number of questions that the line has answered already.
    pub answered: usize,
}

impl ReplayPlan {
    /// Plans a line.
    pub fn new(store: &Store, forest: &Forest, options: ReplayOptions) -> Result<ReplayPlan> {
        let path = forest.conv(options.end).path;
        let from = match options.from {
            None => 0,
            Some(from) => path.iter().position(|ix| *ix == from).ok_or_else(|| {
                let (from, end) = (forest.name(from).id, forest.name(options.end).id);
                Error::usage(format!("{from} is not in the conversation of {end}"))
                    .hint("--from names a message of the line that is replayed")
            })?,
        };
        let plan = match (options.teacher, options.onto) {
            (true, _) => teacher(store, forest, &path, from),
            (false, Some(onto)) => below(store, forest, (&path, from), onto),
            (false, None) => separate_line(store, forest, (&path, from), options.new_system)?,
        };
        if plan.steps.is_empty() && plan.answered == 0 {
            return Err(Error::usage("the conversation has no question to ask again")
                .hint("`lepo show` prints a conversation, `lepo ls` lists them"));
        }
        Ok(plan)
    }
}

/// Splits messages into steps: visible messages are copied, except answers, and each question is asked.
fn steps(store: &Store, forest: &Forest, line: &[Ix]) -> (Vec<ReplayStep>, Vec<BubbName>) {
    let (mut steps, mut copied): (Vec<ReplayStep>, Vec<BubbName>) = (Vec::new(), Vec::new());
    for &ix in line {
        let name = forest.name(ix);
        match (name.role, name.hidden) {
            (_, true) if is_form_message(store, &name) => copied.push(name),
            (_, true) => {}
            (Role::Assistant, false) => {
                if let Some(step) = steps.last_mut() {
                    step.answer = Some(name);
                }
            }
            (Role::User, false) => {
                copied.push(name);
                let copied = std::mem::take(&mut copied);
                steps.push(ReplayStep { copied, question: name, existing: None, answer: None });
            }
            (Role::System | Role::Tool, false) => copied.push(name),
        }
    }
    (steps, copied)
}

/// Returns the question before an answer that starts a line: the question is shared, and answered again.
fn shared_question(forest: &Forest, path: &[Ix], from: usize) -> Option<ReplayStep> {
    let answer = path.get(from..)?.iter().map(|ix| forest.name(*ix)).find(|name| !name.hidden)?;
    let before = path.get(..from)?.iter().rev().map(|ix| forest.name(*ix)).find(|name| !name.hidden)?;
    let is_asked = answer.role == Role::Assistant && before.role == Role::User;
    is_asked.then_some(ReplayStep {
        copied: Vec::new(),
        question: before,
        existing: Some(before.id),
        answer: Some(answer),
    })
}

/// Plans a separate line, which shares the messages before `from`, or else the system prompt.
fn separate_line(
    store: &Store,
    forest: &Forest,
    (path, from): (&[Ix], usize),
    new_system: bool,
) -> Result<ReplayPlan> {
    let root =
        path.first().map(|ix| forest.name(*ix)).filter(|name| name.role == Role::System && name.hidden);
    // Without a system prompt, the root may be a repository's old instructions: a replay adds the current
    // ones, or none.
    let has_prompt =
        root.map(|root| Ok(!Body::read_named(&root, &store.text(&root)?).is_of_repository())).transpose()?;
    let from = from.max(usize::from(has_prompt.unwrap_or_default()));
    let shared = if new_system { None } else { from.checked_sub(1).and_then(|at| path.get(at)) };
    let (mut steps, rest) = steps(store, forest, path.get(from..).unwrap_or_default());
    let mut base = shared.map(|ix| forest.name(*ix).id);
    if let Some(step) = shared_question(forest, path, from).filter(|_| !new_system) {
        base = step.existing;
        steps.insert(0, step);
    }
    Ok(ReplayPlan { base, steps, rest, answered: 0 })
}

/// Plans to request each answer at its recorded position.
fn teacher(store: &Store, forest: &Forest, path: &[Ix], from: usize) -> ReplayPlan {
    let line = path.get(from..).unwrap_or_default();
    let (mut steps, _) = steps(store, forest, line);
    steps.splice(..0, shared_question(forest, path, from));
    for step in &mut steps {
        step.existing = Some(step.question.id);
        step.copied.clear();
    }
    ReplayPlan { base: None, steps, rest: Vec::new(), answered: 0 }
}

/// Plans a line below another message. If that already ends a replay of the line, the questions that it has
/// answered are skipped.
fn below(store: &Store, forest: &Forest, (path, from): (&[Ix], usize), onto: Ix) -> ReplayPlan {
    let base = forest.conv(onto).path;
    let shared = path.iter().zip(&base).take_while(|(a, b)| a == b).count();
    let tail_path = base.get(shared..).unwrap_or_default();
    let begin = from.max(shared);
    let (mut steps, mut rest) = steps(store, forest, path.get(begin..).unwrap_or_default());
    steps.splice(..0, shared_question(forest, path, begin));
    let (mut asked, asked_rest) = self::steps(store, forest, tail_path);
    asked.splice(..0, shared_question(forest, &base, shared));
    let copies = copies_of(store, &asked);
    let is_copy = |new: &ReplayStep, old: &ReplayStep| {
        let new = new.question.id;
        new == old.question.id || copies.get(&new) == Some(&old.question.id)
    };
    let is_replay = !asked.is_empty()
        && asked.len() <= steps.len()
        && asked.iter().zip(&steps).all(|(new, old)| is_copy(new, old));
    let mut plan =
        ReplayPlan { base: Some(forest.name(onto).id), steps: Vec::new(), rest: Vec::new(), answered: 0 };
    if is_replay {
        let open = asked.last().filter(|last| last.answer.is_none());
        plan.answered = asked.len() - usize::from(open.is_some());
        steps.drain(..plan.answered);
        if let (Some(open), Some(step)) = (open, steps.first_mut()) {
            step.existing = Some(open.question.id);
            step.copied.clear();
            plan.base = step.existing;
        } else if steps.is_empty() && asked_rest.len() >= rest.len() {
            rest.clear();
        }
    } else if !tail_path.is_empty() {
        // The new line does not include a question that both lines share.
        steps.retain(|step| step.existing.is_none());
    }
    ReplayPlan { steps, rest, ..plan }
}

/// Returns the originals of these questions, according to the journal.
fn copies_of(store: &Store, asked: &[ReplayStep]) -> HashMap<BubbId, BubbId> {
    let questions: HashSet<BubbId> = asked.iter().map(|step| step.question.id).collect();
    if questions.is_empty() {
        return HashMap::new();
    }
    let copies = store.journal().records().filter_map(|record| Some((record.bubb?, record.copy_of?)));
    copies.filter(|(copy, _)| questions.contains(copy)).collect()
}
