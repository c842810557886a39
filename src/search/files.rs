//! Searching bubbs in their files, on all processors, results in the order asked for.

use std::ops::ControlFlow;

use super::{Line, Pattern};
use crate::bubb::Name;
use crate::error::Error;
use crate::store::{Store, in_order};

/// The outcome of looking into one bubb that had something to tell.
pub enum Outcome {
    /// Lines to report.
    Found(Name, Vec<Line>),
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
    let look = |name: Name| match store.read(&name) {
        Err(error) => Some(Outcome::Unreadable(error)),
        Ok(text) if !pattern.may_match(&text) => None,
        Ok(text) => {
            let lines = pattern.lines(&text);
            (!lines.is_empty()).then_some(Outcome::Found(name, lines))
        }
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
