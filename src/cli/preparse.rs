//! Rewrites a command line before it is parsed: help and version win over everything, and no command
//! means `do`.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};

use clap::Args;

use crate::commands;

/// A command line before it is parsed.
pub(super) enum Preparsed {
    /// The command line is for the parser, and for this command.
    Parse { args: Vec<OsString>, command: String },
    /// Help for the command that these words name: a screen of it, or all.
    Help { words: Vec<String>, is_short: bool },
    /// `lepo help` with these words, each of which has to name a command.
    HelpOn { words: Vec<String> },
    /// The version, and with `--verbose` more.
    Version { verbose: bool },
}

/// `-h` and `-v` win over everything else, help over version; no command at all means `do`, and so does a
/// first word with white space in it, or behind an option of `do` one that is no command: it is a question.
pub(super) fn preparse(root: &clap::Command, mut args: Vec<OsString>) -> Preparsed {
    let tree_of_do = OnceCell::new();
    let takes_value = |word: &OsStr| takes_value(root, &tree_of_do, word);
    let mut words = Vec::new();
    let (mut help, mut all_help, mut external) = (false, false, false);
    let (mut version, mut verbose) = (false, false);
    let mut value_next = false;
    let (mut after_option_of_do, mut question, mut named_do) = (false, false, None);
    let asks = args.iter().any(|word| ["-h", "--help", "-v", "--version"].iter().any(|flag| word == flag));
    for (at, word) in args.iter().enumerate().skip(1) {
        // Behind the command only a wish for help or the version matters: without one its options need no look.
        let is_settled = words.first().is_some_and(|name| !asks && name != "help");
        if word == "--" || external || is_settled {
            break;
        }
        all_help |= word == "--help";
        help |= word == "-h" || all_help;
        version |= word == "--version" || word == "-v" && words.first().is_none_or(|name| name != "grep");
        verbose |= word == "--verbose";
        if std::mem::take(&mut value_next) {
            continue;
        }
        if word.as_encoded_bytes().starts_with(b"-") && word != "-" {
            value_next = takes_value(word);
            after_option_of_do |= words.is_empty() && !is_of_root(root, word);
        } else {
            if words.is_empty() {
                let known = root.find_subcommand(word).is_some() || word == "help";
                question = !known && (after_option_of_do || is_question(word));
                external = !known && !question;
                named_do = (word == "do" && after_option_of_do).then_some(at);
            }
            words.push(word.to_string_lossy().into_owned());
        }
    }
    if words.first().is_some_and(|name| name == "help") {
        return match words.len() == 1 && !all_help {
            true => Preparsed::Help { words: Vec::new(), is_short: true },
            false => Preparsed::HelpOn { words: words.split_off(1) },
        };
    }
    if help {
        let words = if question { vec!["do".into()] } else { words };
        return Preparsed::Help { words, is_short: !all_help };
    }
    if version {
        return Preparsed::Version { verbose };
    }
    if let Some(at) = named_do {
        let word = args.remove(at);
        args.insert(1, word);
    }
    if words.is_empty() || question {
        args.insert(1.min(args.len()), "do".into());
        words.clear();
    }
    if words.first().is_some_and(|name| name == "grep") {
        args = with_letters_of_grep(args);
    }
    let command = words.into_iter().next().unwrap_or_else(|| "do".into());
    Preparsed::Parse { args, command }
}

/// The index of the first word that is neither a command nor a question; none if another comes first.
pub(super) fn first_unknown(root: &clap::Command, args: &[OsString]) -> Option<usize> {
    let (mut value_next, tree_of_do) = (false, OnceCell::new());
    for (at, word) in args.iter().enumerate().skip(1) {
        if std::mem::take(&mut value_next) {
            continue;
        }
        if !word.as_encoded_bytes().starts_with(b"-") {
            let is_known = root.find_subcommand(word).is_some() || word == "help";
            return (!is_known && !is_question(word)).then_some(at);
        }
        if word == "-" || word == "--" || !is_of_root(root, word) {
            return None;
        }
        value_next = takes_value(root, &tree_of_do, word);
    }
    None
}

/// A word with white space in it; a blank one is a question too, which is then refused as one.
fn is_question(word: &OsStr) -> bool {
    word.is_empty() || word.to_string_lossy().contains(char::is_whitespace)
}

/// True if the root has this option: what it does not know stands there for `do`.
fn is_of_root(root: &clap::Command, word: &OsStr) -> bool {
    let Some(word) = word.to_str() else { return true };
    let known = |is_meant: &dyn Fn(&clap::Arg) -> bool| root.get_arguments().any(is_meant);
    if let Some(long) = word.strip_prefix("--") {
        let long = long.split('=').next().unwrap_or_default();
        let alias = |arg: &clap::Arg| arg.get_all_aliases().is_some_and(|all| all.contains(&long));
        return known(&|arg| arg.get_long() == Some(long) || alias(arg));
    }
    let first = word.chars().nth(1);
    known(&|arg| arg.get_short() == first)
}

/// In `lepo grep`, `-v` and `-c` mean what they mean in every grep. Spelled out, they are not taken for the
/// version and the directory, which these letters stand for elsewhere.
fn with_letters_of_grep(args: Vec<OsString>) -> Vec<OsString> {
    const LETTERS: &[(char, &str)] = &[('v', "--invert-match"), ('c', "--count")];
    let tree = commands::grep::GrepArgs::augment_args(clap::Command::new("grep"));
    let takes = |letter| {
        tree.get_arguments().any(|arg| arg.get_short() == Some(letter) && arg.get_action().takes_values())
    };
    let (mut spelled, mut is_behind, mut is_rest) = (Vec::with_capacity(args.len() + 2), false, false);
    for word in args {
        is_rest |= word == "--";
        let cluster =
            word.to_str().and_then(|text| text.strip_prefix('-')).filter(|text| !text.starts_with('-'));
        match cluster {
            Some(text) if is_behind && !is_rest => {
                // Letters after one that takes a value are that value.
                let (flags, value) = text.split_at(text.find(takes).unwrap_or(text.len()));
                let is_ours = |letter: char| LETTERS.iter().any(|(ours, _)| *ours == letter);
                let longs = LETTERS.iter().filter(|(letter, _)| flags.contains(*letter));
                spelled.extend(longs.map(|(_, long)| OsString::from(long)));
                let others = format!("-{}{value}", flags.replace(is_ours, ""));
                spelled.extend((others != "-" || text.is_empty()).then(|| others.into()));
            }
            _ => {
                is_behind |= word == "grep";
                spelled.push(word);
            }
        }
    }
    spelled
}

/// True if the word after this option is its value: of the root's options or of `do`'s, which stand there too.
fn takes_value(root: &clap::Command, tree_of_do: &OnceCell<clap::Command>, word: &OsStr) -> bool {
    let Some(word) = word.to_str() else { return false };
    let takes = |is_meant: &dyn Fn(&clap::Arg) -> bool| {
        let of = |command: &clap::Command| {
            command.get_arguments().find(|arg| is_meant(arg)).map(|arg| arg.get_action().takes_values())
        };
        let of_do =
            || of(tree_of_do.get_or_init(|| commands::r#do::DoArgs::augment_args(clap::Command::new("do"))));
        of(root).or_else(of_do).unwrap_or_default()
    };
    if let Some(long) = word.strip_prefix("--") {
        let alias = |arg: &clap::Arg| arg.get_all_aliases().is_some_and(|all| all.contains(&long));
        return takes(&|arg| arg.get_long() == Some(long) || alias(arg));
    }
    // In a cluster like `-nt ADDR` the first letter that takes a value takes the rest, or if there is none the
    // next word: the value of `-cdocs` is `docs`.
    let letters = word.trim_start_matches('-');
    let found = letters.char_indices().find(|&(_, letter)| takes(&|arg| arg.get_short() == Some(letter)));
    found.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}
