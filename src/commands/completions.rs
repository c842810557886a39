//! `lepo completions`: scripts by which a shell asks lepo for completions.

use std::ffi::OsString;
use std::io;

use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Shells, Zsh};

use super::Context;
use super::complete::{unquote, with_bare_words};
use super::suggest::question_options;
use crate::commands::user_env::own_paths;
use crate::term::{BareWord, Out, clean};
use lepo_base::error::{Error, Result};
use lepo_turn::config::{Alias, aliases};

/// Variable that a shell sets to request completions; its value names the shell.
const ASKED_BY: &str = "LEPO_COMPLETE";

/// All shells with a script.
pub const SHELLS: Shells<'static> = Shells(&[&Bash, &Zsh, &Fish, &Elvish]);

/// Replacements in clap's scripts: shell, text, replacement.
const CHANGES: &[(&str, &str, &str)] = &[
    ("bash", "if [[ \"${BASH_VERSINFO[0]}\" -eq 4", WHOLE_ARGUMENTS),
    ("bash", "-F _clap_complete_lepo", "-F _lepo_whole_arguments"),
    // Without lepo in PATH.
    ("bash", "\"lepo\" -- \"${words[@]}\"", "\"lepo\" -- \"${words[@]}\" 2>/dev/null"),
    // A bare word needs no quotes, but zsh quotes a `~`.
    ("zsh", "_describe -V 'values' dirs", "_describe -V 'values' dirs -Q"),
    ("zsh", "_describe -V 'values' other", "_describe -V 'values' other -Q"),
    ("zsh", "compdef _clap_dynamic_completer_lepo lepo", REGISTER),
];

/// Bash parts arguments at `:`, `=` and `@` too, and replaces only what follows the last of these.
const WHOLE_ARGUMENTS: &str = r#"# Parts with no blank between them are one argument.
_lepo_whole_arguments() {
    local rest="${COMP_LINE:0:COMP_POINT}" typed="" joined=() part at start
    for part in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ ${#joined[@]} -eq 0 || "$rest" == [[:space:]]* ]]; then
            rest="${rest#"${rest%%[![:space:]]*}"}"
            typed="$rest"
            joined+=("$part")
        else
            joined[${#joined[@]}-1]+="$part"
        fi
        rest="${rest#"$part"}"
    done
    at=$(( ${#joined[@]} - 1 ))
    joined+=("${COMP_WORDS[@]:COMP_CWORD+1}")
    start="${typed%"$2"}"
    local COMP_WORDS=("${joined[@]}") COMP_CWORD="$at"
    # An @ begins an address, not the name of a host.
    if [[ "$start$2" == @* ]]; then compopt +o bashdefault 2>/dev/null; fi
    _clap_complete_lepo "$1" "$start$2" "$3"
    # Candidates have no quotes.
    start="${start//\"}"
    start="${start//\'}"
    COMPREPLY=("${COMPREPLY[@]#"$start"}")
}
if [[ "${BASH_VERSINFO[0]}" -eq 4"#;

/// Zsh's completion system may not be loaded yet; and the script may be in its `fpath`, where it runs as the
/// completer itself.
const REGISTER: &str = r#"# Together in a line, those that mean the same would be sorted, and all others with them.
zstyle ':completion:*:*:lepo:*' list-grouped false
if [[ "${funcstack[1]}" == _lepo ]]; then
    _clap_dynamic_completer_lepo "$@"
else
    if ! (( ${+functions[compdef]} )); then
        autoload -Uz compinit && compinit -i
    fi
    compdef _clap_dynamic_completer_lepo lepo
fi"#;

/// Print a shell completion script
///
/// Completes commands, aliases, options, ids (newest first), branches, models and files from the current store,
/// configuration and directory, in zsh and fish each with a preview. Only names that need no quotes are offered.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    source <(lepo completions bash)  # in ~/.bashrc\n  \
    source <(lepo completions zsh)   # in ~/.zshrc, after compinit if you call it\n  \
    lepo completions fish > ~/.config/fish/completions/lepo.fish")]
pub struct CompletionsArgs {
    /// bash, zsh, fish or elvish
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish", "elvish"], hide_possible_values = true)]
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
    let mut text = String::from_utf8_lossy(&text).into_owned();
    for (_, from, to) in CHANGES.iter().filter(|(name, ..)| shell.is(name)) {
        debug_assert!(text.contains(from), "clap's script has changed");
        text = text.replace(from, to);
    }
    Ok(text.into_bytes())
}

/// Answers a shell's request for completions; false if the shell made none.
pub fn answer(tree: fn() -> clap::Command, args: &[OsString]) -> bool {
    let shell = lepo_base::env::text(ASKED_BY).filter(|shell| !matches!(shell.as_str(), "" | "0"));
    let Some(shell) = shell else { return false };
    // Errors are dropped: a shell shows no messages during completion.
    if let Some(shell) = SHELLS.completer(&shell)
        && let Ok(found) = candidates(tree(), shell, args)
    {
        Out::stdout().untrusted(&found);
    }
    true
}

fn candidates(mut tree: clap::Command, shell: &dyn EnvCompleter, args: &[OsString]) -> io::Result<Vec<u8>> {
    let mut line: Vec<OsString> = args.iter().skip_while(|arg| *arg != "--").skip(1).cloned().collect();
    // Bash and zsh leave quotes on all arguments, fish on the last.
    let quoted = if shell.is("bash") || shell.is("zsh") { 0 } else { line.len().saturating_sub(1) };
    line[quoted..].iter_mut().for_each(|arg| *arg = unquote(arg));
    let Some(last) = line.last() else { return script(shell) };
    // Without an index the last argument is completed.
    let index = lepo_base::env::text("_CLAP_COMPLETE_INDEX").and_then(|index| index.parse::<usize>().ok());
    let current = index.and_then(|index| line.get(index)).unwrap_or(last);
    let wants_options = current.as_encoded_bytes().starts_with(b"-");
    tree.build();
    let mut tree = guarded(with_question_options(with_aliases(tree)));
    let mut found = Vec::new();
    shell.write_complete(&mut tree, line, std::env::current_dir().ok().as_deref(), &mut found)?;
    let separator = lepo_base::env::text("_CLAP_IFS").and_then(|text| text.bytes().next());
    let mut found: Vec<&[u8]> = found.split(|byte| *byte == separator.unwrap_or(b'\n')).collect();
    found.retain(|candidate| wants_options || !candidate.starts_with(b"-"));
    // A saved bash script of an earlier lepo names no separator, and splits at this.
    let saved = shell.is("bash").then_some(0x0b);
    Ok(found.join(&separator.or(saved).unwrap_or(b'\n')))
}

/// Adds the user's aliases, each as a copy of its command. Errors in the file are dropped, as in any
/// completion.
fn with_aliases(mut tree: clap::Command) -> clap::Command {
    let known = own_paths().and_then(|paths| aliases(&paths)).unwrap_or_default();
    // An alias may begin with another, which must be added first.
    let mut left: Vec<&Alias> =
        known.iter().filter(|alias| tree.find_subcommand(&alias.name).is_none()).collect();
    left.retain(|alias| BareWord::parse(&alias.name, "").is_some());
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
    Some(command.name(name).about(clean(&alias.text).into_owned()))
}

/// Adds the options of `do` to lepo itself, as a question needs no `do`.
fn with_question_options(tree: clap::Command) -> clap::Command {
    let options: Vec<clap::Arg> = question_options(&tree).cloned().collect();
    tree.args(options)
}

/// Lets all arguments offer only [`BareWord`]s.
fn guarded(command: clap::Command) -> clap::Command {
    command.mut_args(with_bare_words).mut_subcommands(guarded)
}
