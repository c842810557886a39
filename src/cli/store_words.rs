//! Words given to `-s`, which names a store.

use std::path::Path;

use lepo_base::error::{Error, Result};

/// Refuses words that were given as a store: they are the system prompt, most likely.
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
