//! Assigns journal records to a day or week, a model, a conversation and a question.

use super::tally::{GroupBy, TallyKey};
use lepo_base::time;
use lepo_store::bubb::BubbId;
use lepo_store::conv::{ConvOutlines, Forest, NearestAncestor};
use lepo_store::store::JournalRecord;

pub struct TallyKeys<'f> {
    forest: &'f Forest,
    outlines: ConvOutlines<'f>,
    questions: NearestAncestor,
    by: GroupBy,
    /// Earlier records are omitted, in milliseconds since the epoch.
    since: u64,
}

impl<'f> TallyKeys<'f> {
    pub fn new(forest: &'f Forest, by: GroupBy, since: u64) -> TallyKeys<'f> {
        TallyKeys {
            forest,
            outlines: forest.outlines(),
            questions: NearestAncestor::new(Forest::is_question),
            by,
            since,
        }
    }

    /// Returns the key of a record; `None` if it is too old.
    pub fn key_for(&mut self, record: &JournalRecord) -> Option<TallyKey> {
        let about = record.bubb.or(record.under);
        let ix = about.and_then(|id| self.forest.find(id));
        // An imported answer is dated by its bubb: the record is as new as the import.
        let moment = record.bubb.map_or(record.time, BubbId::time);
        if moment < self.since {
            return None;
        }
        // The nearest visible user bubb before the answer.
        let question =
            ix.and_then(|ix| self.questions.find(self.forest, ix)).map(|ix| self.forest.name(ix).id);
        let key = match self.by {
            GroupBy::Day => time::day(moment),
            GroupBy::Week => time::week(moment),
            GroupBy::Model => record.model.clone()?,
            GroupBy::DayAndModel => format!("{}\t{}", time::day(moment), record.model.as_ref()?),
            GroupBy::Conv => match ix {
                Some(ix) => self.forest.name(self.outlines.value(ix).root).id.to_string(),
                None => "-".into(),
            },
        };
        Some(TallyKey { key, question })
    }
}
