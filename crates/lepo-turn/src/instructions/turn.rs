//! Adds instructions to a turn, before its question.

use std::path::Path;

use super::bounded::in_note;
use super::find::Instructions;
use super::opening::opening;
use crate::message::NewMessage;
use crate::turn::Turn;
use crate::{Notice, TurnEvent};
use lepo_base::hash::hash_of;
use lepo_base::hash_file::HashFile;
use std::os::unix::ffi::OsStrExt;

/// File name of the record of repositories whose instructions were announced.
const TOLD: &str = "agents-told";

fn left_out(found: &Instructions) -> impl Iterator<Item = Notice> {
    let notice = |(path, why): &(String, String)| Notice::LeftOut(in_note(path.as_ref()), why.clone());
    found.left_out.iter().map(notice)
}

/// Returns the notice for the first time in a repository.
fn news(found: &Instructions, state: &Path) -> Option<Notice> {
    let first = found.files.first()?;
    let hash = hash_of(&[found.root.as_ref()?.as_os_str().as_bytes()]);
    let record = HashFile::at(state.join(TOLD));
    if record.contains(&hash).unwrap_or(true) {
        return None;
    }
    // On failure, the notice is repeated next time.
    let _ = record.append(&[hash]);
    Some(Notice::InstructionsGo(first.path.clone(), found.files.len() - 1))
}

/// Returns the bubb of instructions to insert before a question, and reports the skipped files.
pub(crate) fn instructions(turn: &mut Turn<'_>) -> Option<NewMessage> {
    let found = turn.env.configured.instructions(turn.config)?;
    left_out(&found).for_each(|notice| turn.notify_once(notice));
    let opening = opening(&found, &turn.path.messages, &turn.env.masking)?;
    if !turn.env.configured.writes_nothing()
        && let Some(news) = news(&found, &turn.env.configured.paths.state)
    {
        turn.view.on_event(TurnEvent::Notice(&news));
    }
    Some(opening)
}
