//! Recovers answers that a killed process left, before the next turn.

use crate::term::{StatusLine, print_status};
use lepo_base::error::Result;
use lepo_store::store::{Store, StrayOutcome};

/// Stores the partial answers of killed processes as hidden messages, and reports that. `lepo fsck` finds
/// other remains.
pub fn recover_cut(store: &Store, quiet: bool) -> Result<()> {
    for stray in store.strays()?.into_iter().filter(|stray| stray.is_of_turn()) {
        if let StrayOutcome::Saved(name) = store.settle_stray(stray)?
            && !quiet
        {
            let id = name.id;
            print_status(&StatusLine::note(format!(
                "an answer was cut short by a kill; the next question continues from its part: lepo show {id}"
            )));
        }
    }
    Ok(())
}
