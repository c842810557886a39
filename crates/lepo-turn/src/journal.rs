//! Journal entries about requests to models.

use std::time::Duration;

use lepo_model::Usage;
use lepo_store::store::JournalRecord;

/// Creates the entry for an answered request, with its tokens and its time in milliseconds.
pub fn usage_entry(what: &str, model: &str, usage: Usage, ms: u64) -> JournalRecord {
    JournalRecord {
        what: what.into(),
        model: Some(model.into()),
        input: usage.input,
        output: usage.output,
        cached: usage.cached,
        cache_write: usage.cache_write,
        web: usage.web,
        ms: Some(ms),
        ..JournalRecord::default()
    }
}

pub fn failure_entry(model: Option<&str>, after: Duration) -> JournalRecord {
    JournalRecord {
        what: "failed".into(),
        model: model.map(str::to_string),
        ms: Some(after.as_millis() as u64),
        failed: true,
        ..JournalRecord::default()
    }
}
