//! Searches the files of bubbs on all processors, with the results in the order of the names.

use std::cell::RefCell;
use std::ops::ControlFlow;

use super::{FoundLine, Pattern};
use lepo_base::error::Error;
use lepo_base::read_ahead::in_order;
use lepo_store::bubb::BubbName;
use lepo_store::store::Store;

/// Maximum capacity of a buffer to reuse for the next file; a larger one is freed.
const KEPT: usize = 1 << 20;

thread_local! {
    /// The content of the last file.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The result of searching a bubb, if it is worth reporting.
pub enum FileResult {
    /// The lines to report; empty if the search is only for texts.
    Found(BubbName, Vec<FoundLine>),
    /// The bubb could not be read.
    Unreadable(Error),
}

/// Searches the files of these bubbs, and passes the results to `each`, in order, until it breaks.
pub fn search_files(
    store: &Store,
    pattern: &Pattern,
    names: impl Iterator<Item = BubbName>,
    mut each: impl FnMut(FileResult) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let look = |name: BubbName| {
        TEXT.with_borrow_mut(|text| {
            if let Err(error) = store.read_bubb_into(&name, text) {
                return Some(FileResult::Unreadable(error));
            }
            let found = matching_lines(pattern, text).map(|lines| FileResult::Found(name, lines));
            if text.capacity() > KEPT {
                *text = Vec::new();
            }
            found
        })
    };
    let mut broken = ControlFlow::Continue(());
    in_order(names, look, |outcome| {
        if let Some(outcome) = outcome {
            broken = each(outcome);
        }
        broken
    });
    broken
}

/// Returns the lines of a text to report; `None` if it does not match.
pub fn matching_lines(pattern: &Pattern, text: &[u8]) -> Option<Vec<FoundLine>> {
    if pattern.is_for_texts() {
        return pattern.has_line(text).then(Vec::new);
    }
    let lines = if pattern.may_match(text) { pattern.lines(text) } else { Vec::new() };
    (!lines.is_empty()).then_some(lines)
}
