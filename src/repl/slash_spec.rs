//! The spelling and the argument of a slash command, for completion and parsing, and the session's next step after
//! it.

use lepo_turn::Verdict;

#[derive(Debug)]
pub struct SlashSpec {
    /// The command with its slash.
    pub word: &'static str,
    pub takes: ArgumentKind,
    /// The description in `/help`.
    pub about: &'static str,
}

#[derive(Debug)]
pub enum ArgumentKind {
    Nothing,
    /// Any text; optional.
    Text,
    /// The path of a file; optional.
    File,
    /// The id of the pending request; optional.
    Request,
    /// An address: an id, a branch, `@`.
    Address,
    /// An address or a range; optional.
    OptionalAddress,
    /// A name.
    Name,
    /// The name of a model; optional.
    Model,
    /// An alternative from this list, with or without `--save`.
    OneOf(&'static [&'static str]),
}

/// The session's next step after a slash command.
pub enum SessionStep {
    Prompt,
    /// Run a turn with this question, or with the last one again.
    Turn(Option<String>),
    Decide(Verdict),
    Leave,
}

impl ArgumentKind {
    /// Returns the argument as `/help` names it.
    pub fn sign(&self) -> String {
        match self {
            ArgumentKind::Nothing
            | ArgumentKind::Text
            | ArgumentKind::Request
            | ArgumentKind::Model
            | ArgumentKind::OptionalAddress => String::new(),
            ArgumentKind::File => "FILE".into(),
            ArgumentKind::Address => "ADDR".into(),
            ArgumentKind::Name => "NAME".into(),
            ArgumentKind::OneOf(words) => words.join("|"),
        }
    }

    /// Checks the argument `rest` of the command `word`; the error is printed.
    pub fn check(&self, word: &str, rest: &str) -> std::result::Result<(), String> {
        let one = |what: &str| match rest.split_whitespace().count() {
            1 => Ok(()),
            _ => Err(format!("{word} needs one {what}")),
        };
        match self {
            ArgumentKind::Text | ArgumentKind::File | ArgumentKind::Model => Ok(()),
            ArgumentKind::Request if !rest.contains(char::is_whitespace) => Ok(()),
            ArgumentKind::Request => Err(format!("{word} takes one id")),
            ArgumentKind::Nothing if rest.is_empty() => Ok(()),
            ArgumentKind::Nothing => Err(format!("{word} takes no argument")),
            ArgumentKind::OptionalAddress if rest.is_empty() => Ok(()),
            ArgumentKind::Address | ArgumentKind::OptionalAddress => {
                one("").map_err(|_| format!("usage: {word} ID|BRANCH|@"))
            }
            ArgumentKind::Name => one("name"),
            ArgumentKind::OneOf(words) if rest.is_empty() || words.contains(&without_save(rest)) => Ok(()),
            ArgumentKind::OneOf(words) => Err(format!("Please enter either {}.", words.join(" or "))),
        }
    }
}

pub fn without_save(rest: &str) -> &str {
    rest.strip_suffix(SAVE).or_else(|| rest.strip_prefix(SAVE)).unwrap_or(rest).trim()
}

pub const SAVE: &str = "--save";
