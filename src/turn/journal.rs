//! Entries of the journal about requests to models.

use std::time::Duration;

use crate::model::Usage;
use crate::store::Entry;

/// What an answered request cost.
pub fn usage_entry<'a>(what: &'a str, model: &'a str, usage: Usage, ms: u64) -> Entry<'a> {
    Entry {
        what,
        model: Some(model),
        input: usage.input,
        output: usage.output,
        cached: usage.cached,
        cache_write: usage.cache_write,
        ms,
        ..Entry::default()
    }
}

/// A request that failed.
pub fn failure_entry(model: Option<&str>, after: Duration) -> Entry<'_> {
    Entry { what: "failed", model, ms: after.as_millis() as u64, failed: true, ..Entry::default() }
}
