//! `[alias]` of the user's file: names for a command with its options.

use super::source::{SettingSource, SourcedValue};
use super::table_reader::TableReader;
use lepo_base::error::Result;

/// An alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// Name of the alias.
    pub name: String,
    /// Text as written in the file.
    pub text: String,
    /// The command and its arguments, split like a shell does; never empty.
    pub args: Vec<String>,
    /// Source of the alias.
    pub source: SettingSource,
}

pub fn read_aliases(section: TableReader<'_>) -> Result<Vec<Alias>> {
    section.texts(|name, SourcedValue { value: text, source }| {
        let is_word = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
        if name.is_empty() || name.starts_with(['-', '.']) || !name.chars().all(is_word) {
            return Err((format!("an alias cannot be \"{name}\""), "use letters, digits, - and _"));
        }
        match shlex::split(&text).filter(|args| !args.is_empty()) {
            Some(args) => Ok(Alias { name, text, args, source }),
            None => {
                let allowed = "write the command and its options, quoted as for a shell";
                Err((format!("alias \"{name}\" cannot be taken apart"), allowed))
            }
        }
    })
}
