//! `lepo completions`: scripts by which a shell asks lepo for completions.

use std::ffi::OsString;
use std::io;

use clap_complete::CompleteEnv;
use clap_complete::env::EnvCompleter;

use super::Context;
pub use super::shells::SHELLS;
use crate::commands::user_env::own_paths;
use lepo_base::error::{Error, Result};
use lepo_turn::config::{Alias, aliases};

/// Variable that a shell sets to request completions; its value names the shell.
const ASKED_BY: &str = "LEPO_COMPLETE";

/// Print a shell completion script
///
/// Completes commands, aliases, options, ids (newest first), branches and models from the current store and
/// configuration, each with a preview.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    source <(lepo completions bash)                                   # in ~/.bashrc\n  \
    source <(lepo completions zsh)                                    # in ~/.zshrc, after compinit if you call it\n  \
    lepo completions fish > ~/.config/fish/completions/lepo.fish")]
pub struct CompletionsArgs {
    /// bash, zsh, fish or elvish
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish", "elvish"])]
    shell: String,
}

/// Prints the script of a shell.
pub fn run_completions(args: CompletionsArgs, context: &mut Context<'_>) -> Result<u8> {
    let shell = SHELLS.completer(&args.shell).ok_or_else(|| Error::usage("no such shell"))?;
    context.out.untrusted(&script(shell).map_err(|error| Error::usage("no script").because(error))?);
    Ok(0)
}

/// Returns the script of a shell.
pub fn script(shell: &dyn EnvCompleter) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    shell.write_registration(ASKED_BY, "lepo", "lepo", "lepo", &mut text)?;
    Ok(text)
}

/// Answers a shell's request for completions; false if the shell made none.
pub fn answer(tree: fn() -> clap::Command, args: &[OsString]) -> bool {
    if lepo_base::env::var(ASKED_BY).is_none() {
        return false;
    }
    let here = std::env::current_dir().ok();
    let wants_options = args.last().is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"));
    let tree = || with_aliases(if wants_options { tree() } else { without_options(tree()) });
    let answered = CompleteEnv::with_factory(tree)
        .var(ASKED_BY)
        .shells(SHELLS)
        .try_complete(args.iter().cloned(), here.as_deref());
    // Errors are dropped: a shell shows no messages during completion.
    answered.unwrap_or(true)
}

/// Adds the user's aliases, each as a copy of its command. Errors in the file are dropped, as in any
/// completion.
fn with_aliases(mut tree: clap::Command) -> clap::Command {
    let known = own_paths().and_then(|paths| aliases(&paths)).unwrap_or_default();
    // An alias may begin with another, which must be added first.
    let mut left: Vec<&Alias> =
        known.iter().filter(|alias| tree.find_subcommand(&alias.name).is_none()).collect();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|alias| match stands_for(&tree, alias) {
            Some(command) => {
                tree = std::mem::take(&mut tree).subcommand(command);
                false
            }
            None => true,
        });
        if left.len() == before {
            break;
        }
    }
    tree
}

/// Returns the command that an alias begins with, renamed to the alias.
fn stands_for(tree: &clap::Command, alias: &Alias) -> Option<clap::Command> {
    let (first, others) = alias.args.split_first()?;
    let inner = |command: &clap::Command, word: &String| command.find_subcommand(word).cloned();
    let mut command = match first.starts_with('-') || first.contains(char::is_whitespace) {
        // Options before a command, or a question: the implied `do`.
        true => tree.find_subcommand("do")?.clone(),
        false => inner(tree, first)?,
    };
    for word in others {
        let Some(deeper) = inner(&command, word) else { break };
        command = deeper;
    }
    command.build();
    // Clap needs names that live as long as the process, which answers once.
    let name: &'static str = alias.name.clone().leak();
    Some(command.name(name).about(alias.text.clone()))
}

/// Hides options: they are offered only if one was started, or without other candidates.
fn without_options(mut tree: clap::Command) -> clap::Command {
    tree.build();
    let hide = |command: clap::Command| {
        command.mut_args(|arg| {
            let is_option = !arg.is_positional();
            arg.hide(is_option)
        })
    };
    hide(tree).mut_subcommands(|command| hide(command).mut_subcommands(hide))
}
