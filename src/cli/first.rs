//! The first word of a command line that is neither an option nor the value of one: a command, or what else it is.

use std::ffi::{OsStr, OsString};

use clap::builder::Resettable::Reset;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};

/// The meaning of a first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// One of lepo's commands.
    Command,
    /// A question; or there is no such word.
    Question,
    /// An alias, or a program `lepo-NAME`.
    Other,
}

/// The first word.
pub(super) struct First {
    /// Its index; behind the last word if there is none.
    pub at: usize,
    pub means: Means,
    /// Before it stands an option that `do` has and not every command.
    pub follows_do_option: bool,
}

impl First {
    /// Looks for it. Options before it may be those of every command and those of `do`; a line that has others, or has
    /// them without their values, is one for `do`, which finds the fault.
    pub fn of(root: &Command, args: &[OsString]) -> First {
        let none = First { at: args.len(), means: Means::Question, follows_do_option: false };
        let Ok(found) = scanner(root).try_get_matches_from(args) else { return none };
        let is_given = |id: &str| found.value_source(id) == Some(ValueSource::CommandLine);
        let of_root = |id: &str| root.get_arguments().any(|arg| arg.get_id() == id);
        let follows_do_option = found.ids().map(|id| id.as_str()).any(|id| is_given(id) && !of_root(id));
        let Some((word, rest)) = found.subcommand() else { return First { follows_do_option, ..none } };
        let after = rest.get_many::<OsString>("").map_or(0, Iterator::count);
        let at = args.len().saturating_sub(after + 1);
        let is_known = root.find_subcommand(word).is_some() || word == "help";
        let is_escaped = args.iter().take(at).any(|word| word == "--");
        let means = match is_known && !is_escaped {
            true => Means::Command,
            false if is_escaped || follows_do_option || is_question(word.as_ref()) => Means::Question,
            false => Means::Other,
        };
        First { at, means, follows_do_option }
    }
}

/// A word with white space in it; a blank one is a question too, which is then refused as one.
fn is_question(word: &OsStr) -> bool {
    word.is_empty() || word.to_string_lossy().contains(char::is_whitespace)
}

/// A parser of all options that may stand before the first word; that and all behind it is left as it is.
fn scanner(root: &Command) -> Command {
    // A tree that was built has the options of every command in each.
    let of_do = root.find_subcommand("do").into_iter().flat_map(Command::get_arguments);
    let of_do = of_do.filter(|arg| !arg.is_positional() && !arg.is_global_set());
    let options = root.get_arguments().chain(of_do);
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
            ("lepo", 1, Means::Question, false),
            ("lepo ls -n 3", 1, Means::Command, false),
            ("lepo help ls", 1, Means::Command, false),
            ("lepo -c docs ls", 3, Means::Command, false),
            ("lepo -cdocs --color=never ls", 3, Means::Command, false),
            ("lepo --store other ls", 3, Means::Command, false),
            ("lepo deploy --now", 1, Means::Other, false),
            ("lepo -c docs deploy", 3, Means::Other, false),
            ("lepo two_words", 1, Means::Question, false),
            ("lepo -n why", 2, Means::Question, true),
            ("lepo -nt ls why", 3, Means::Question, true),
            ("lepo -m gpt do why", 3, Means::Command, true),
            ("lepo --tail=@ -n -n ls", 4, Means::Command, true),
            ("lepo --debate --orchestrator ls why", 4, Means::Question, true),
            ("lepo -h -v ls", 3, Means::Command, false),
            ("lepo -- ls", 2, Means::Question, false),
            ("lepo -n", 2, Means::Question, true),
            ("lepo -m", 2, Means::Question, true),
            ("lepo --bogus ls", 3, Means::Question, false),
        ] {
            // An underscore stands for a space within a word.
            let args: Vec<OsString> = line.split(' ').map(|word| word.replace('_', " ").into()).collect();
            let first = First::of(&root, &args);
            assert_eq!((first.at, first.means), (at, means), "{line}");
            assert_eq!(first.follows_do_option, follows_do_option, "{line}");
        }
    }
}
