//! The words of a slash command, for completion and for reading an entry; and how a session goes on after one.

use lepo_turn::Verdict;

/// A slash command, as it is typed.
#[derive(Debug)]
pub struct CommandWord {
    /// The word, with its slash.
    pub word: &'static str,
    /// The argument after it.
    pub takes: Takes,
    /// Line in `/help`.
    pub about: &'static str,
}

/// The argument of a slash command.
#[derive(Debug)]
pub enum Takes {
    /// None.
    Nothing,
    /// Any text, or none.
    Text,
    /// The path of a file, or none.
    File,
    /// The id of the request that waits, or none.
    Request,
    /// One address: an id, a branch, `@`.
    Address,
    /// One name.
    Name,
    /// The name of a model, or none.
    Model,
    /// One of these words, and `--save` or not.
    OneOf(&'static [&'static str]),
}

/// The continuation of a session after a slash command.
pub enum After {
    /// At the prompt.
    Prompt,
    /// With a turn: this question, or the last one again.
    Turn(Option<String>),
    /// With a word on the request that waits.
    Decide(Verdict),
    /// The session ends.
    Leave,
}

impl Takes {
    /// The argument as `/help` names it.
    pub fn sign(&self) -> String {
        match self {
            Takes::Nothing | Takes::Text | Takes::Request | Takes::Model => String::new(),
            Takes::File => "FILE".into(),
            Takes::Address => "ADDR".into(),
            Takes::Name => "NAME".into(),
            Takes::OneOf(words) => words.join("|"),
        }
    }

    /// Checks the argument `rest` of the command `word`; the error is the sentence to show.
    pub fn check(&self, word: &str, rest: &str) -> std::result::Result<(), String> {
        let one = |what: &str| match rest.split_whitespace().count() {
            1 => Ok(()),
            _ => Err(format!("{word} needs one {what}")),
        };
        match self {
            Takes::Text | Takes::File | Takes::Model => Ok(()),
            Takes::Request if !rest.contains(char::is_whitespace) => Ok(()),
            Takes::Request => Err(format!("{word} takes one id")),
            Takes::Nothing if rest.is_empty() => Ok(()),
            Takes::Nothing => Err(format!("{word} takes no argument")),
            Takes::Address => one("").map_err(|_| format!("usage: {word} ID|BRANCH|@")),
            Takes::Name => one("name"),
            Takes::OneOf(words) if rest.is_empty() || words.contains(&without_save(rest)) => Ok(()),
            Takes::OneOf(words) => Err(format!("Please enter either {}.", words.join(" or "))),
        }
    }
}

/// An argument without `--save`.
pub fn without_save(rest: &str) -> &str {
    rest.strip_suffix(SAVE).or_else(|| rest.strip_prefix(SAVE)).unwrap_or(rest).trim()
}

/// The option that makes a choice the default.
pub const SAVE: &str = "--save";
