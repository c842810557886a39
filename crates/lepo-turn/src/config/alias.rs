//! `[alias]` of the user's file: words of one's own for a command and its options.

use super::document::{Set, Source};
use super::reader::Section;
use lepo_base::error::Result;

/// A word that stands for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// The word.
    pub name: String,
    /// The text as it is written.
    pub text: String,
    /// The words it stands for, split as a shell splits them; never none.
    pub words: Vec<String>,
    /// Place of the alias.
    pub source: Source,
}

/// Reads the table.
pub fn read_aliases(section: Section<'_>) -> Result<Vec<Alias>> {
    section.texts(|name, Set { value: text, source }| {
        let is_word = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
        if name.is_empty() || name.starts_with(['-', '.']) || !name.chars().all(is_word) {
            return Err((format!("an alias cannot be \"{name}\""), "use letters, digits, - and _"));
        }
        match shlex::split(&text).filter(|words| !words.is_empty()) {
            Some(words) => Ok(Alias { name, text, words, source }),
            None => {
                let allowed = "write the command and its options, quoted as for a shell";
                Err((format!("alias \"{name}\" cannot be taken apart"), allowed))
            }
        }
    })
}
