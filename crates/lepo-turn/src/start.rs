//! Chooses the bubb that a question follows, or a new conv.

use super::body::Body;
use super::next_question::is_form_message;
use super::stopped_answer::step_back;
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand};
use lepo_base::role::Role;
use lepo_store::bubb::BubbId;
use lepo_store::conv::{AddressTarget, Forest, Ix};
use lepo_store::store::Store;

/// Options that choose where a turn starts.
#[derive(Debug, Clone, Copy, Default)]
pub struct StartOptions {
    /// `--new`.
    pub new: bool,
    /// `--tail`, resolved.
    pub tail: Option<AddressTarget>,
    /// `--retry`.
    pub retry: bool,
}

/// Where a turn starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStart {
    /// At a new root.
    New,
    /// A new question after this bubb.
    Under(BubbId),
    /// This question, answered again.
    Again(BubbId),
    /// The turn of this request, continued after the decision.
    Decided(BubbId),
}

impl TurnStart {
    /// Whether a question is asked, or answered again; not for a decision.
    pub fn is_question(self) -> bool {
        !matches!(self, TurnStart::Decided(_))
    }

    /// Returns the bubb at which the turn starts; `None` for a new conv.
    pub fn id(self) -> Option<BubbId> {
        match self {
            TurnStart::New => None,
            TurnStart::Under(id) | TurnStart::Again(id) | TurnStart::Decided(id) => Some(id),
        }
    }
}

/// Decides where a turn starts.
pub fn start(store: &Store, forest: &Forest, options: StartOptions) -> Result<TurnStart> {
    if options.new {
        return Ok(TurnStart::New);
    }
    let tip = match options.tail {
        Some(tail) => Some(tail.ix),
        None => forest.newest(),
    };
    let Some(tip) = tip else {
        return match options.retry {
            true => Err(Error::usage("no question to answer again: the store has no messages")
                .hint(Hint::from("ask something first: ").bare(HintCommand::Ask))),
            false => Ok(TurnStart::New),
        };
    };
    if options.retry {
        // A branch does not move when its question fails, so that question is after it.
        let branch = options.tail.filter(|tail| tail.by_branch);
        let left = branch.and_then(|branch| forest.question_left_at(branch.ix));
        let question = left.or_else(|| forest.last_question(tip)).ok_or_else(|| {
            Error::usage(format!(
                "no question to answer again in the conversation of {}",
                forest.name(tip).id
            ))
        })?;
        return Ok(TurnStart::Again(forest.name(question).id));
    }
    match options.tail {
        Some(_) => Ok(TurnStart::Under(forest.name(tip).id)),
        None => start_at(store, forest, tip),
    }
}

/// Decides where a question goes that follows the end of a conversation, if the user did not name the end:
/// not after a question that is being answered or got no answer, nor after an unfinished turn.
pub fn start_at(store: &Store, forest: &Forest, tip: Ix) -> Result<TurnStart> {
    let open = being_answered(store, forest, tip).or_else(|| unanswered(store, forest, tip));
    let under = match open {
        // The form of that question is not for the next one.
        Some(question) => {
            let mut before = forest.up(question).skip(1);
            before.find(|&ix| !is_form_message(store, &forest.name(ix)))
        }
        None => step_back(store, forest, tip),
    };
    Ok(under.map_or(TurnStart::New, |ix| TurnStart::Under(forest.name(ix).id)))
}

/// Returns the question at this end of a conversation that another process is answering: the next question
/// follows the same bubb. If several questions wait there, returns the first.
pub fn being_answered(store: &Store, forest: &Forest, tip: Ix) -> Option<Ix> {
    let is_answer = |ix: Ix| {
        let name = forest.name(ix);
        name.role == Role::Assistant && !name.hidden
    };
    let open: Vec<Ix> = forest.up(tip).take_while(|&ix| !is_answer(ix)).collect();
    let is_question = |ix: &Ix| {
        let name = forest.name(*ix);
        name.role == Role::User && !name.hidden
    };
    if !open.iter().any(is_question) {
        return None;
    }
    let at_work = store.ids_at_work();
    let first = open.iter().rposition(|&ix| at_work.contains(&forest.name(ix).id))?;
    open.get(first..)?.iter().copied().find(is_question)
}

/// Returns the question of `do` at this end that got no answer: the next question does not follow it. Added,
/// imported or rebased messages do not count.
pub fn unanswered(store: &Store, forest: &Forest, tip: Ix) -> Option<Ix> {
    let is_planning = |ix: &Ix| {
        let name = forest.name(*ix);
        let text = (name.hidden && name.role == Role::System).then(|| store.text(&name).ok()).flatten();
        text.is_some_and(|text| Body::read_named(&name, &text).command().is_none())
    };
    let question = forest.up(tip).find(|ix| !is_planning(ix))?;
    let name = forest.name(question);
    let is_asked = name.role == Role::User && !name.hidden && forest.store_of(question).is_none();
    (is_asked && store.journal().is_unanswered(name.id)).then_some(question)
}
