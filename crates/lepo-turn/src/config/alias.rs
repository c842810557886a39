//! `[alias]` of the user's file: names for a command with its options.

use super::mistake::Mistake;
use super::source::SettingSource;
use super::tree::{SettingNode, SettingTable};

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

/// Reads the aliases of `[alias]`, in the order of the file.
pub fn read_aliases(table: &SettingTable) -> Result<Vec<Alias>, Mistake> {
    table.entries().into_iter().map(|(name, node)| read_alias(name, node)).collect()
}

fn read_alias(name: &str, node: &SettingNode) -> Result<Alias, Mistake> {
    let wrong = |what: String, allowed| Err(Mistake::at(node.source.clone(), what, allowed));
    let Some(text) = node.text() else {
        return wrong(format!("`{name}` in [alias] is not a text"), "write it in quotes");
    };
    let is_word = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    if name.is_empty() || name.starts_with(['-', '.']) || !name.chars().all(is_word) {
        return wrong(format!("an alias cannot be \"{name}\""), "use letters, digits, - and _");
    }
    match shlex::split(text).filter(|args| !args.is_empty()) {
        Some(args) => Ok(Alias { name: name.into(), text: text.into(), args, source: node.source.clone() }),
        None => wrong(
            format!("alias \"{name}\" cannot be taken apart"),
            "write the command and its options, quoted as for a shell",
        ),
    }
}
