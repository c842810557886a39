//! Finds the newest recorded answer to a request, or verdict on answers.

use std::collections::HashSet;

use super::query::{Query, RecordStore};
use super::recorded_answer::{RecordedAnswer, hit};
use crate::group::judged_by;
use lepo_base::error::Result;
use lepo_store::bubb::BubbId;

/// Returns the newest answer to a request.
pub fn find(record: &RecordStore<'_>, query: &Query<'_>) -> Result<Option<RecordedAnswer>> {
    for answer in record.answers(&record.matching(query.history)?) {
        let fact = record.facts.get(record.forest.name(answer.ix).id).unwrap_or_default();
        if query.difference(&fact).is_none() && record.is_of_turn(&answer, fact.model.as_deref())? {
            return hit(record, &answer, fact, query.schema.is_some()).map(Some);
        }
    }
    Ok(None)
}

/// Returns the newest verdict on exactly these answers.
pub fn verdict(
    record: &RecordStore<'_>,
    query: &Query<'_>,
    answers: impl Iterator<Item = BubbId>,
) -> Result<Option<RecordedAnswer>> {
    let shown: HashSet<BubbId> = answers.collect();
    for answer in record.answers(&record.matching(query.history)?) {
        let [before] = answer.between[..] else { continue };
        let text = record.store.text(&record.forest.name(before))?;
        let Some((name, judged)) = judged_by(&text) else { continue };
        let fact = record.facts.get(record.forest.name(answer.ix).id).unwrap_or_default();
        let is_same = judged.len() == shown.len() && judged.iter().all(|id| shown.contains(id));
        let is_by = query.model.as_deref().is_none_or(|wanted| wanted == name);
        // The request for a verdict does not have the schema of the answers.
        let query = Query {
            history: &[],
            model: query.model.clone(),
            options: query.options.clone(),
            schema: None,
            tools: query.tools.clone(),
        };
        if is_same && is_by && query.difference(&fact).is_none() {
            return hit(record, &answer, fact, false).map(Some);
        }
    }
    Ok(None)
}
