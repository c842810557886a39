//! Incomplete answers: a word next to the model, and a line below a question without an answer.

use std::collections::{HashMap, HashSet};

use super::ShortIds;
use super::notes::read_request;
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{Forest, Ix, NearestAncestor, ReadScope};
use lepo_store::store::{JournalIndex, JournalRecord, Store};

/// Returns the word for an answer that ended early: the user stopped it, its request failed, or it does not fit the
/// schema.
pub fn ended_early(fact: &JournalRecord) -> Option<&'static str> {
    match (fact.what.as_str(), fact.failed) {
        ("partial", false) => Some("stopped"),
        ("partial", true) => Some("failed"),
        ("unfit", _) => Some("invalid"),
        _ => None,
    }
}

#[derive(Default)]
pub struct AnswerIndex {
    /// The questions with a whole answer.
    answered: HashSet<BubbId>,
    /// The newest partial answer to each question, with the word for its end.
    parts: HashMap<BubbId, (BubbId, &'static str)>,
}

impl AnswerIndex {
    /// Finds the answers in `forest`; the journal knows which ones are partial.
    pub fn new(forest: &Forest, facts: &JournalIndex) -> AnswerIndex {
        let visible = visible();
        let mut answers = AnswerIndex::default();
        for ix in forest.all().filter(|&ix| forest.name(ix).role == Role::Assistant) {
            let Some(question) = question_of(forest, &visible, ix) else { continue };
            let name = forest.name(ix);
            if !name.hidden {
                answers.answered.insert(question);
            } else if let Some(word) = facts.get(name.id).as_ref().and_then(ended_early) {
                answers.parts.insert(question, (name.id, word));
            }
        }
        answers
    }

    /// Returns `(stopped; see lepo show --one ID)` if a question has only a partial answer; `None` if that is in
    /// `shown`.
    pub fn part_line(&self, question: BubbId, shown: &[BubbName], shorts: &ShortIds) -> Option<String> {
        let (part, word) = self.parts.get(&question).filter(|_| !self.answered.contains(&question))?;
        let is_shown = shown.iter().any(|name| name.id == *part);
        (!is_shown).then(|| format!("({word}; see lepo show --one {})", shorts.show(*part)))
    }
}

/// Explains the missing answer to the last question of `shown`: partial, a pending request, or none at all.
pub fn became_of(
    (store, facts): (&Store, &JournalIndex),
    question: BubbId,
    shown: &[BubbName],
    shorts: &ShortIds,
) -> Result<Option<String>> {
    let forest = store.forest_for(&[ReadScope::Since { id: question, judged: true }])?;
    let answers = AnswerIndex::new(&forest, facts);
    if answers.answered.contains(&question) {
        return Ok(None);
    }
    let visible = visible();
    let is_of_it = |ix: Ix| question_of(&forest, &visible, ix) == Some(question);
    let waits = |ix: Ix| is_of_it(ix).then(|| read_request(store, &forest.name(ix))).flatten();
    if let Some((request, _)) = forest.pending(waits).first() {
        let is_shown = shown.iter().any(|name| name.id == forest.name(*request).id);
        return Ok((!is_shown).then(|| "(needs approval; see lepo ls --pending)".to_string()));
    }
    if answers.parts.contains_key(&question) {
        return Ok(answers.part_line(question, shown, shorts));
    }
    Ok(store.journal().is_unanswered(question).then(|| "(no answer)".to_string()))
}

fn visible() -> NearestAncestor {
    NearestAncestor::new(|forest, ix| !forest.name(ix).hidden)
}

/// Returns the question before an answer: the nearest visible message above it.
fn question_of(forest: &Forest, visible: &NearestAncestor, ix: Ix) -> Option<BubbId> {
    let before = forest.prev(ix).and_then(|prev| visible.find(forest, prev))?;
    Some(forest.name(before).id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_ended_early_has_a_word() {
        for (what, failed, word) in [
            ("answer", false, None),
            ("partial", false, Some("stopped")),
            ("partial", true, Some("failed")),
            ("unfit", false, Some("invalid")),
            ("calls", false, None),
            ("", true, None),
        ] {
            let fact = JournalRecord { what: what.into(), failed, ..JournalRecord::default() };
            assert_eq!(ended_early(&fact), word, "{what} {failed}");
        }
    }
}
