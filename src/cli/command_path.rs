//! Finds the command and subcommand of a faulty command line, and what its user may have meant.

use std::ffi::OsString;

use clap::{Arg, Command};

use crate::commands::suggest::closest_name;

/// Command of the tree, with the subcommand that the line names.
pub(super) struct CommandPath<'t> {
    tree: &'t Command,
    command: Option<&'t Command>,
    inner: Option<&'t Command>,
}

impl<'t> CommandPath<'t> {
    /// Finds the subcommand in the command line `words`.
    pub(super) fn find(tree: &'t Command, command: &str, words: &[OsString]) -> CommandPath<'t> {
        let found = tree.find_subcommand(command);
        let mut words = words.iter().skip_while(|word| *word != command).skip(1);
        let inner = found.and_then(|found| words.find_map(|word| found.find_subcommand(word)));
        CommandPath { tree, command: found, inner }
    }

    /// Returns the names, like `model ls`.
    pub(super) fn full_name(&self) -> String {
        let names = self.command.into_iter().chain(self.inner).map(Command::get_name);
        names.collect::<Vec<_>>().join(" ")
    }

    /// Whether the last command of the path takes this option.
    pub(super) fn has_option(&self, option: &str) -> bool {
        let is_it = |arg: &Arg| is_named(arg, option);
        self.last().into_iter().any(|last| last.get_arguments().any(is_it))
            || self.tree.get_arguments().any(is_it)
    }

    /// Returns the long option, of this command or global, that is nearest to `word` and not equal to it.
    pub(super) fn nearest_option(&self, word: &str) -> Option<String> {
        let word = word.trim_start_matches('-');
        let own = self.last().into_iter().flat_map(Command::get_arguments);
        let names = own.chain(self.tree.get_arguments()).filter_map(Arg::get_long);
        closest_name(word, names.filter(|name| *name != word)).map(|meant| format!("--{meant}"))
    }

    /// Returns the command line of a sibling that takes this option, like `lepo model ls --json`.
    pub(super) fn command_with(&self, option: &str) -> Option<String> {
        let command = self.command.filter(|_| self.inner.is_some() || option.starts_with("--"))?;
        let takes = |inner: &&Command| inner.get_arguments().any(|arg| is_named(arg, option));
        let inner = command.get_subcommands().find(takes)?;
        Some(format!("lepo {} {} {option}", command.get_name(), inner.get_name()))
    }

    /// Returns the message and the suggestion for options before `word`, which may not be a subcommand.
    pub(super) fn conflict_before(&self, word: &str, before: &[String]) -> (String, Option<String>) {
        let Some(command) = self.command else { return (format!("unexpected argument {word}"), None) };
        let options = before.join(" ");
        let takes_all = |inner: &Command| {
            before.iter().all(|option| inner.get_arguments().any(|arg| is_named(arg, option)))
        };
        let meant = |inner: &Command| format!("lepo {} {} {options}", command.get_name(), inner.get_name());
        let Some(inner) = command.find_subcommand(word) else {
            let inners = command.get_subcommands().filter(|inner| takes_all(inner));
            let near = closest_name(word, inners.map(Command::get_name));
            let near = near.and_then(|near| command.find_subcommand(near)).map(meant);
            return (format!("unknown command {word} of lepo {}", command.get_name()), near);
        };
        (format!("{options} cannot be used before {word}"), takes_all(inner).then(|| meant(inner)))
    }

    fn last(&self) -> Option<&'t Command> {
        self.inner.or(self.command)
    }
}

fn is_named(arg: &Arg, option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| option == format!("-{short}")),
    }
}
