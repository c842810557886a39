//! The entries of earlier sessions, for Up and Ctrl+R.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use reedline::{FileBackedHistory, History};

/// The maximum number of stored entries.
const REMEMBERED: usize = 10_000;

/// Returns the history file in the state folder.
pub fn history_file(state: &Path) -> PathBuf {
    state.join("history")
}

/// Opens the history in a file that only its owner can read; if that fails, a history of this run only.
pub fn history(state: &Path) -> Box<dyn History> {
    let path = history_file(state);
    let file = DirBuilder::new().recursive(true).mode(0o700).create(state);
    let file = file.and_then(|()| OpenOptions::new().append(true).create(true).mode(0o600).open(&path));
    match file.map(|_| FileBackedHistory::with_file(REMEMBERED, path)) {
        Ok(Ok(history)) => Box::new(history),
        _ => Box::<FileBackedHistory>::default(),
    }
}
