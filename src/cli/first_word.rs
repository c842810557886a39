//! Finds and classifies the first argument that is neither an option nor the value of one.

use std::ffi::{OsStr, OsString};

use clap::builder::Resettable::Reset;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};

use crate::commands::suggest::question_options;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstWordKind {
    Command,
    /// A question, or no argument.
    Question,
    /// An alias, or a program `lepo-NAME`.
    Other,
}

pub(super) struct FirstWord {
    /// Index of the argument; the number of arguments if all are options.
    pub at: usize,
    pub means: FirstWordKind,
    /// Follows an option that `do` has and not every command has.
    pub follows_do_option: bool,
}

impl FirstWord {
    /// Finds the first argument. Options before it may be global ones and those of `do`; a line with other
    /// options, or with an option that lacks its value, is passed to `do`, which reports the error.
    pub fn find(root: &Command, args: &[OsString]) -> FirstWord {
        let none = FirstWord { at: args.len(), means: FirstWordKind::Question, follows_do_option: false };
        let Ok(found) = scanner(root).try_get_matches_from(args) else { return none };
        let is_given = |id: &str| found.value_source(id) == Some(ValueSource::CommandLine);
        let of_root = |id: &str| root.get_arguments().any(|arg| arg.get_id() == id);
        let follows_do_option = found.ids().map(|id| id.as_str()).any(|id| is_given(id) && !of_root(id));
        let Some((word, rest)) = found.subcommand() else { return FirstWord { follows_do_option, ..none } };
        let after = rest.get_many::<OsString>("").map_or(0, Iterator::count);
        let at = args.len().saturating_sub(after + 1);
        let is_known = root.find_subcommand(word).is_some() || word == "help";
        let is_escaped = args.iter().take(at).any(|word| word == "--");
        let means = match is_known && !is_escaped {
            true => FirstWordKind::Command,
            false if is_escaped || follows_do_option || is_question(word.as_ref()) => FirstWordKind::Question,
            false => FirstWordKind::Other,
        };
        FirstWord { at, means, follows_do_option }
    }
}

/// Contains white space, is `-` for stdin, or is empty; `do` then refuses a blank question.
fn is_question(word: &OsStr) -> bool {
    word.is_empty() || word == "-" || word.to_string_lossy().contains(char::is_whitespace)
}

/// Builds a parser of all options that may precede the first argument; everything from it on stays
/// unparsed.
fn scanner(root: &Command) -> Command {
    let options = root.get_arguments().chain(question_options(root));
    let alone = |arg: &Arg| arg.clone().conflicts_with(Reset).requires(Reset);
    Command::new("lepo")
        .args(options.map(alone))
        .mut_arg("help", |help| help.action(ArgAction::SetTrue))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args_override_self(true)
        .allow_external_subcommands(true)
        .ignore_errors(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_do_and_their_values_are_no_first_word() {
        let root = super::super::command();
        for (line, at, means, follows_do_option) in [
            ("lepo", 1, FirstWordKind::Question, false),
            ("lepo ls -n 3", 1, FirstWordKind::Command, false),
            ("lepo help ls", 1, FirstWordKind::Command, false),
            ("lepo -c docs ls", 3, FirstWordKind::Command, false),
            ("lepo -cdocs --color=never ls", 3, FirstWordKind::Command, false),
            ("lepo --store other ls", 3, FirstWordKind::Command, false),
            ("lepo deploy --now", 1, FirstWordKind::Other, false),
            ("lepo -c docs deploy", 3, FirstWordKind::Other, false),
            ("lepo two_words", 1, FirstWordKind::Question, false),
            ("lepo -", 1, FirstWordKind::Question, false),
            ("lepo ls -", 1, FirstWordKind::Command, false),
            ("lepo -n why", 2, FirstWordKind::Question, true),
            ("lepo -nt ls why", 3, FirstWordKind::Question, true),
            ("lepo -m gpt do why", 3, FirstWordKind::Command, true),
            ("lepo --tail=@ -n -n ls", 4, FirstWordKind::Command, true),
            ("lepo --debate --orchestrator ls why", 4, FirstWordKind::Question, true),
            ("lepo -h -v ls", 3, FirstWordKind::Command, false),
            ("lepo -- ls", 2, FirstWordKind::Question, false),
            ("lepo -n", 2, FirstWordKind::Question, true),
            ("lepo -m", 2, FirstWordKind::Question, true),
            ("lepo --bogus ls", 3, FirstWordKind::Question, false),
        ] {
            // An underscore represents a space inside an argument.
            let args: Vec<OsString> = line.split(' ').map(|word| word.replace('_', " ").into()).collect();
            let first = FirstWord::find(&root, &args);
            assert_eq!((first.at, first.means), (at, means), "{line}");
            assert_eq!(first.follows_do_option, follows_do_option, "{line}");
        }
    }
}
