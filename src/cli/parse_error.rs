//! Converts clap's errors to the form of all other errors, with a suggestion or a hint.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::command_path::CommandPath;
use lepo_base::error::{Error, quoted};

/// Users of other programs resume a conversation with `-r`.
const RETRY_ALONE: &str = "`lepo --retry` answers the last question again; to continue another conversation: \
    lepo --tail ADDR QUESTION";

/// Converts a parse error of the command line `words` of `command`. `tree` contains all commands.
pub fn parse_error(error: &clap::Error, tree: &clap::Command, command: &str, words: &[OsString]) -> Error {
    let path = CommandPath::find(tree, command, words);
    let option = text(error, ContextKind::InvalidArg).map(|argument| name_of(&argument)).unwrap_or_default();
    let value = text(error, ContextKind::InvalidValue);
    let (what, meant) = match error.kind() {
        ErrorKind::UnknownArgument if option.starts_with('-') => {
            let meant = text(error, ContextKind::SuggestedArg).map(|meant| name_of(&meant));
            // The parser has options of the commands above in mind, which this one does not take.
            let meant = meant.filter(|meant| *meant != option && path.has_option(meant));
            let meant = meant.or_else(|| path.nearest_option(&option));
            (format!("unknown option {option}"), meant.or_else(|| path.command_with(&option)))
        }
        ErrorKind::UnknownArgument => (format!("unexpected argument {}", quoted(&option)), None),
        ErrorKind::InvalidSubcommand => {
            let word = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let meant = text(error, ContextKind::SuggestedSubcommand);
            (format!("unknown command {}", quoted(&word)), meant)
        }
        ErrorKind::InvalidValue => {
            let allowed = text(error, ContextKind::ValidValue).unwrap_or_default();
            // The value may be the API key itself, which must not appear on a command line or in an error.
            if allowed == "-" {
                return Error::usage(format!("{option} takes - and nothing else"));
            }
            let what = match value.as_deref() {
                None | Some("") => format!("{option} needs a value"),
                Some(value) => format!("{option} cannot be {}", quoted(value)),
            };
            if !allowed.is_empty() {
                return Error::usage(what).hint(format!("allowed: {allowed}"));
            }
            (what, None)
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(|why| plain_text_of(&why.to_string()));
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            (format!("{option} cannot be {}{why}", quoted(&value.unwrap_or_default())), None)
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(error, ContextKind::InvalidArg)
                .iter()
                .map(|argument| name_of(argument))
                .collect::<Vec<_>>();
            (format!("missing {}", missing.join(", ")), None)
        }
        ErrorKind::ArgumentConflict if option.is_empty() => {
            // An option before a subcommand, or before a word that clap takes for one.
            let word = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let before = texts(error, ContextKind::PriorArg);
            let before = before.iter().map(|argument| name_of(argument)).collect::<Vec<_>>();
            path.conflict_before(&word, &before)
        }
        ErrorKind::ArgumentConflict => {
            let others = texts(error, ContextKind::PriorArg)
                .iter()
                .map(|argument| name_of(argument))
                .collect::<Vec<_>>();
            let what = match others.as_slice() {
                [] => format!("{option} cannot be used with the other options"),
                [other] if *other == option => format!("{option} is given more than once"),
                others => format!("{option} cannot be used with {}", others.join(", ")),
            };
            if option == "--retry" && others.iter().any(|other| other == "PROMPT") {
                return Error::usage(what).hint(RETRY_ALONE);
            }
            (what, None)
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            ("missing command".to_string(), None)
        }
        _ => {
            let rendered = error.render().to_string();
            let first = rendered.lines().next().unwrap_or_default();
            (plain_text_of(first.strip_prefix("error: ").unwrap_or(first)), None)
        }
    };
    match meant {
        Some(meant) => Error::usage(what).hint(format!("did you mean `{meant}`?")),
        None => Error::usage(what).hint(format!("`lepo {} --help` lists its arguments", path.full_name())),
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    Some(texts(error, kind)).filter(|texts| !texts.is_empty()).map(|texts| texts.join(", "))
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::StyledStr(text)) => vec![text.to_string()],
        Some(ContextValue::StyledStrs(texts)) => texts.iter().map(|text| text.to_string()).collect(),
        _ => Vec::new(),
    }
}

/// Strips the values of an argument's name: `--tail <ADDR>` becomes `--tail`, `[PROMPT]...` becomes `PROMPT`.
fn name_of(argument: &str) -> String {
    let name = argument.split([' ', '=']).next().unwrap_or_default().trim_end_matches("...");
    name.trim_start_matches(['<', '[']).trim_end_matches(['>', ']', '[']).to_string()
}

/// Rewrites the standard library's messages about numbers for a user.
fn plain_text_of(text: &str) -> String {
    text.replace("invalid digit found in string", "expected a whole number")
        .replace("cannot parse integer from empty string", "expected a whole number")
        .replace("number too large to fit in target type", "the number is too large")
        .replace(&format!("is not in 1..{}", u64::MAX), "is too small: the minimum is 1")
        .replace(&format!("is not in 1..={}", u64::MAX), "is too small: the minimum is 1")
}

#[cfg(test)]
#[path = "parse_error_tests.rs"]
mod tests;
