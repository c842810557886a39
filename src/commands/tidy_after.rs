//! Tidies a little after a command that writes; a failure here never fails the command.

use super::changes::empty_old;
use super::sweep::sweep_state;
use crate::term::{Out, StatusLine, print_status};
use lepo_store::store::{OLD, Store};

/// Moves some bubbs of past days into their folders if the store has more than `limit`, after flushing the
/// output. Also deletes old files in lepo's state folder.
pub fn tidy_after(store: &Store, limit: Option<u32>, quiet: bool, out: &mut Out) {
    sweep_state();
    // If it fails, the next command that writes does it.
    let _ = empty_old(store);
    let Some(limit) = limit.map(|limit| limit as usize).filter(|&limit| store.is_untidy(limit)) else {
        return;
    };
    out.flush();
    let is_first = !store.has_day_folders();
    match store.tidy_some(limit) {
        Ok(tidied) if is_first && tidied.moved > 0 && !quiet => print_status(&StatusLine::note(format!(
            "messages of past days move into {0}/{OLD}; `grep -r PATTERN {0}` finds them",
            store.display_path().display()
        ))),
        Err(error) if !quiet => print_status(&StatusLine::warning(format!("not tidied: {}", error.chain()))),
        _ => {}
    }
}
