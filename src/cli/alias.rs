//! Aliases: a word of the user's own stands for a command and its options.

use std::ffi::OsString;

use super::preparse::first_unknown;
use crate::commands::config::known_aliases;
use lepo_base::error::{Error, Result};

/// The command line with its first word written out, if that is an alias; an alias may begin with another. The
/// user's file is read only where the word is no command.
pub(super) fn expand(root: &clap::Command, mut args: Vec<OsString>) -> Result<Vec<OsString>> {
    let mut known = None;
    let mut used: Vec<String> = Vec::new();
    while let Some(at) = first_unknown(root, &args) {
        if known.is_none() {
            known = Some(known_aliases()?);
        }
        let word = args.get(at).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(alias) = known.iter().flatten().find(|alias| alias.name == word) else { break };
        if used.contains(&word) {
            return Err(Error::usage(format!("{}: alias \"{word}\" leads back to itself", alias.source))
                .hint("`lepo config --edit` opens the file"));
        }
        used.push(word);
        args.splice(at..=at, alias.words.iter().map(OsString::from));
    }
    Ok(args)
}
