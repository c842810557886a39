//! Aliases: the user's own names for a command with options.

use std::ffi::OsString;

use super::first_word::{FirstWord, FirstWordKind};
use crate::commands::config::known_aliases;
use crate::commands::suggest::in_path;
use lepo_base::error::{Error, Result};

/// Expands the first argument while it is an alias, and classifies the result. An alias may begin with
/// another. The user's file is read only if the argument is not a command.
pub(super) fn expand(root: &clap::Command, mut args: Vec<OsString>) -> Result<(Vec<OsString>, FirstWord)> {
    let mut known = None;
    let mut used: Vec<String> = Vec::new();
    loop {
        let first = FirstWord::find(root, &args);
        if first.means != FirstWordKind::Other {
            return Ok((args, first));
        }
        if known.is_none() {
            known = Some(known_aliases()?);
        }
        let at = first.at;
        let word = args.get(at).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(alias) = known.iter().flatten().find(|alias| alias.name == word) else {
            let is_question = !could_be_command(&word) && in_path(&format!("lepo-{word}")).is_none();
            let means = if is_question { FirstWordKind::Question } else { first.means };
            return Ok((args, FirstWord { means, ..first }));
        };
        if used.contains(&word) {
            return Err(Error::usage(format!("{}: alias \"{word}\" expands to itself", alias.source))
                .hint("`lepo config --edit` opens the file"));
        }
        used.push(word);
        args.splice(at..=at, alias.args.iter().map(OsString::from));
    }
}

/// Whether a word may be a mistyped command: in ASCII, or with lone letters of Hangul, the keys of a Korean keyboard
/// layout. With a `?` at its end it is not.
fn could_be_command(word: &str) -> bool {
    let is_lone_hangul = |c| ('\u{3131}'..='\u{318e}').contains(&c);
    !word.ends_with('?') && (word.is_ascii() || word.contains(is_lone_hangul))
}
