//! The options `-c` and `-s`, which select the store.

use std::path::Path;

use lepo_base::error::{Error, Result, quoted};

/// Returns both options as typed in a shell, for the commands in hints; `None` without them.
pub fn store_options(cd: Option<&Path>, save_to: Option<&Path>) -> Option<String> {
    let options = [("-c", cd), ("-s", save_to)].into_iter();
    let typed = |(option, path): (&str, Option<&Path>)| {
        Some(format!("{option} {}", quoted(&path?.to_string_lossy())))
    };
    let options: Vec<String> = options.filter_map(typed).collect();
    (!options.is_empty()).then(|| options.join(" "))
}

/// Rejects a store name that looks like prose: most likely the user meant `-S`, the system prompt.
pub fn check_store_name(path: Option<&Path>, cd: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let text = path.to_string_lossy();
    let exists = cd.unwrap_or(Path::new("")).join(path).exists();
    match text.contains(char::is_whitespace) && !text.contains('/') && !exists {
        true => Err(Error::usage(format!("no folder {text:?} for a store"))
            .hint("-s names a store and creates ./NAME; -S sets the system prompt")),
        false => Ok(()),
    }
}
