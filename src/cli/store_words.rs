//! Detects text given to `-s`, which names a store.

use std::path::Path;

use lepo_base::error::{Error, Result};

/// Rejects a store name that is text: most likely the user meant the system prompt.
pub(super) fn words_for_store(path: Option<&Path>, cd: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let text = path.to_string_lossy();
    let is_there = cd.unwrap_or(Path::new("")).join(path).exists();
    match text.contains(char::is_whitespace) && !text.contains('/') && !is_there {
        true => Err(Error::usage(format!("no folder {text:?} for a store"))
            .hint("-s names a store and creates ./NAME; -S sets the system prompt")),
        false => Ok(()),
    }
}
