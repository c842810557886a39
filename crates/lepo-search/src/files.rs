//! Searching bubbs in their files, on all processors, results in the order asked for.

use std::cell::RefCell;
use std::ops::ControlFlow;

use super::{FoundLine, Pattern};
use lepo_base::error::Error;
use lepo_base::read_ahead::in_order;
use lepo_store::bubb::Name;
use lepo_store::store::Store;

/// Bytes of a buffer that is kept for the next file; a larger one is given back.
const KEPT: usize = 1 << 20;

thread_local! {
    /// The content of the last file.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The outcome of looking into one bubb that had something to tell.
pub enum Outcome {
    /// Lines to report; none where only texts are asked for.
    Found(Name, Vec<FoundLine>),
    /// It could not be read.
    Unreadable(Error),
}

/// Searches these bubbs' files and gives each outcome to `each`, in their order, until that breaks.
pub fn search_files(
    store: &Store,
    pattern: &Pattern,
    names: impl Iterator<Item = Name>,
    mut each: impl FnMut(Outcome) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let look = |name: Name| {
        TEXT.with_borrow_mut(|text| {
            if let Err(error) = store.bubbs().read_into(&name, text) {
                return Some(Outcome::Unreadable(error));
            }
            let found = matching_lines(pattern, text).map(|lines| Outcome::Found(name, lines));
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

/// The lines of a text to report; `None` if it does not match.
pub fn matching_lines(pattern: &Pattern, text: &[u8]) -> Option<Vec<FoundLine>> {
    if pattern.is_for_texts() {
        return pattern.has_line(text).then(Vec::new);
    }
    let lines = if pattern.may_match(text) { pattern.lines(text) } else { Vec::new() };
    (!lines.is_empty()).then_some(lines)
}
