//! `lepo completions`: the script by which a shell asks lepo itself what a word can become.

use std::ffi::OsString;
use std::io;

use clap_complete::CompleteEnv;
use clap_complete::env::EnvCompleter;

use super::Context;
pub use super::shells::SHELLS;
use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_turn::config::{Alias, Paths, aliases};

/// The variable in which a shell says that it asks, and which shell it is.
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

/// Prints it.
pub fn run_completions(args: CompletionsArgs, context: &mut Context<'_>) -> Result<u8> {
    let shell = SHELLS.completer(&args.shell).ok_or_else(|| Error::usage("no such shell"))?;
    context.out.untrusted(&script(shell).map_err(|error| Error::usage("no script").because(error))?);
    Ok(0)
}

/// The script of a shell.
pub fn script(shell: &dyn EnvCompleter) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    shell.write_registration(ASKED_BY, "lepo", "lepo", "lepo", &mut text)?;
    Ok(text)
}

/// Answers a shell that asks; false if none does.
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
    // An error is dropped: a shell that completes shows no messages.
    answered.unwrap_or(true)
}

/// Adds the user's aliases, each as the command that it stands for. No complaint about the file: this is no command.
fn with_aliases(mut tree: clap::Command) -> clap::Command {
    let known = Paths::from_env(&Env::from_process()).and_then(|paths| aliases(&paths)).unwrap_or_default();
    // An alias may begin with another, which must be there first.
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

/// The command that an alias begins with, under its name.
fn stands_for(tree: &clap::Command, alias: &Alias) -> Option<clap::Command> {
    let (first, others) = alias.words.split_first()?;
    let inner = |command: &clap::Command, word: &String| command.find_subcommand(word).cloned();
    let mut command = match first.starts_with('-') || first.contains(char::is_whitespace) {
        // Options before a command, or a question: `do` without its name.
        true => tree.find_subcommand("do")?.clone(),
        false => inner(tree, first)?,
    };
    for word in others {
        let Some(deeper) = inner(&command, word) else { break };
        command = deeper;
    }
    command.build();
    // The tree keeps names that live as long as the process, which answers once.
    let name: &'static str = alias.name.clone().leak();
    Some(command.name(name).about(alias.text.clone()))
}

/// Hides options, which are offered only if one was begun, or if there are no other candidates.
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
