//! Journal entries about requests to models.

use std::time::Duration;

use lepo_model::Usage;
use lepo_store::store::JournalEntry;

/// Creates the entry for an answered request, with its tokens and its time in milliseconds.
pub fn usage_entry<'a>(what: &'a str, model: &'a str, usage: Usage, ms: u64) -> JournalEntry<'a> {
    JournalEntry {
        what,
        model: Some(model),
        input: usage.input,
        output: usage.output,
        cached: usage.cached,
        cache_write: usage.cache_write,
        web: usage.web,
        ms,
        ..JournalEntry::default()
    }
}

pub fn failure_entry(model: Option<&str>, after: Duration) -> JournalEntry<'_> {
    JournalEntry {
        what: "failed",
        model,
        ms: after.as_millis() as u64,
        failed: true,
        ..JournalEntry::default()
    }
}
