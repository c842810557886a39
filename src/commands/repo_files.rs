//! Configuration files in a store: they apply only once the user trusts them.

use super::Context;
use crate::commands::user_env::own_paths;
use crate::term::{StatusLine, print_status};
use lepo_base::error::Result;
use lepo_store::store::Store;
use lepo_turn::config::{Paths, RecordedTable, RepoFile, Settings, Trust};
use lepo_turn::{TrustedFile, insts_of_repository, repo_file, repo_prompts};

pub const REPO_FILES: [&str; 2] = ["_config.toml", "_mcp.json"];

/// Returns the current content of all files that need trust, including prompts.
pub fn repo_files(store: &Store) -> Result<Vec<RepoFile>> {
    let paths = own_paths()?;
    let names = REPO_FILES.map(String::from).into_iter().chain(repo_prompts(store));
    let files = names.filter_map(|name| repo_file(store, &name).transpose());
    files.chain(insts_of_repository(store, &paths).transpose()).collect()
}

/// Returns a file of the repository if it is trusted; otherwise prints a note, unless `quiet`.
pub fn trusted(store: &Store, paths: &Paths, name: &str, quiet: bool) -> Result<Option<TrustedFile>> {
    let ignored = |why: &str| {
        if !quiet {
            print_status(&StatusLine::note(format!(
                "{} is ignored: {why}",
                store.display_path().join(name).display()
            )));
        }
    };
    match repo_file(store, name) {
        Ok(Some(file)) if Trust::new(paths).covers(&file)? => return Ok(Some((file.path, file.bytes))),
        Ok(Some(file)) if has_nothing_to_trust(&file) => {}
        Ok(Some(_)) => ignored("it is not trusted; `lepo trust` shows what it would do"),
        Ok(None) => {}
        // A symbolic link or a fifo cannot be trusted.
        Err(error) => ignored(&error.chain()),
    }
    Ok(None)
}

/// Whether the file has only the table that counts without trust.
fn has_nothing_to_trust(file: &RepoFile) -> bool {
    file.path.extension().is_some_and(|end| end == "toml")
        && RecordedTable::parse(&file.path, &file.bytes).is_ok_and(|table| table.is_alone)
}

/// Returns the texts that do not count where requests are compared, by the store's own configuration, trusted or not.
pub fn recorded_ignore(store: &Store) -> Result<Vec<String>> {
    let Some(file) = repo_file(store, REPO_FILES[0])? else { return Ok(Vec::new()) };
    Ok(RecordedTable::parse(&file.path, &file.bytes)?.ignore)
}

/// Returns the repository's settings, if there is a store and they are trusted.
pub fn trusted_config(context: &Context<'_>, paths: &Paths) -> Result<Option<TrustedFile>> {
    let Some(store) = context.find_store()? else { return Ok(None) };
    trusted(&store, paths, REPO_FILES[0], false)
}

/// Returns the settings of a command: the user's, the environment's, and the repository's if they are trusted.
pub fn read_settings(context: &Context<'_>) -> Result<Settings> {
    let user = context.user_env()?;
    user.settings(trusted_config(context, &user.paths)?)
}
