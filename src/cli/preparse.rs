//! Before the parser: wishes for help and the version win over everything, and no command means `do`.

use std::ffi::OsString;

use super::first::{First, Means};

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
pub(super) fn preparse(mut args: Vec<OsString>, first: First) -> Preparsed {
    let First { at, means, follows_do_option } = first;
    let words: Vec<String> = match means {
        Means::Command => args[at..]
            .iter()
            .take_while(|word| *word != "--")
            .map(|word| word.to_string_lossy().into_owned())
            .filter(|word| !word.starts_with('-'))
            .collect(),
        // Of a question, help is that of `do`.
        Means::Question if at < args.len() => vec!["do".into()],
        _ => Vec::new(),
    };
    let command = words.first().cloned().unwrap_or_else(|| "do".into());
    // Words of another program are its own.
    let own = if means == Means::Other { at } else { args.len() };
    let options: Vec<_> = args.iter().enumerate().take(own).take_while(|(_, word)| *word != "--").collect();
    let has = |option: &str| options.iter().any(|(_, word)| *word == option);
    // Behind `grep`, it turns the match round.
    let has_v = options.iter().any(|&(i, word)| word == "-v" && (i < at || command != "grep"));
    if means == Means::Command && command == "help" {
        return match words.len() == 1 && !has("--help") {
            true => Preparsed::Help { words: Vec::new(), is_short: true },
            false => Preparsed::HelpOn { words: words.into_iter().skip(1).collect() },
        };
    }
    if has("-h") || has("--help") {
        return Preparsed::Help { words, is_short: !has("--help") };
    }
    if has_v || has("--version") {
        return Preparsed::Version { verbose: has("--verbose") };
    }
    if means == Means::Command && follows_do_option && command == "do" {
        let word = args.remove(at);
        args.insert(1, word);
    }
    if means == Means::Question {
        args.insert(1.min(args.len()), "do".into());
    }
    Preparsed::Parse { args, command }
}
