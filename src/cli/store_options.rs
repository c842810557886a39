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

/// Rejects names that look like prose: most likely the user meant `-S`, the system prompt, or a question, which continues
/// without an option.
pub fn check_folder_names(save_to: Option<&Path>, cd: Option<&Path>) -> Result<()> {
    if let Some(text) = cd.and_then(|cd| prose(cd, None)) {
        return Err(Error::usage(format!("no folder \"{text}\"")).hint(
            "-c names the folder to start in; a question continues the newest conversation without it",
        ));
    }
    match save_to.and_then(|path| prose(path, cd)) {
        Some(text) => Err(Error::usage(format!("no folder \"{text}\" for a store"))
            .hint("-s names a store and creates ./NAME; -S sets the system prompt")),
        None => Ok(()),
    }
}

/// Returns a path that does not exist and has blanks, as prose has.
fn prose(path: &Path, cd: Option<&Path>) -> Option<String> {
    let text = path.to_string_lossy();
    let exists = cd.unwrap_or(Path::new("")).join(path).exists();
    (text.contains(char::is_whitespace) && !text.contains('/') && !exists).then(|| text.into_owned())
}
