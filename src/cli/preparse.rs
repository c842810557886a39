//! Handles help, version and the implied `do` before the real parser runs.

use std::ffi::OsString;

use super::first_word::{FirstWord, FirstWordKind};

pub(super) enum PreparsedLine {
    /// To be parsed, for this command.
    Parse { args: Vec<OsString>, command: String },
    /// Help for the command that the arguments name: a screen, or complete.
    Help { words: Vec<String>, is_short: bool },
    /// `lepo help` with arguments, each of which must name a command.
    HelpOn { words: Vec<String> },
    /// The version; details with `--verbose`.
    Version { verbose: bool },
}

/// `-h` and `-v` take precedence over everything else, help over version. Without a command `do` is implied;
/// so it is for a first argument with white space, or, after an option of `do`, for one that is not a
/// command: it is a question.
pub(super) fn preparse(mut args: Vec<OsString>, first: FirstWord) -> PreparsedLine {
    let FirstWord { at, means, follows_do_option } = first;
    let words: Vec<String> = match means {
        FirstWordKind::Command => args[at..]
            .iter()
            .take_while(|word| *word != "--")
            .map(|word| word.to_string_lossy().into_owned())
            .filter(|word| !word.starts_with('-'))
            .collect(),
        // Before a question, `-h` is the help of `do`.
        FirstWordKind::Question if at < args.len() => vec!["do".into()],
        _ => Vec::new(),
    };
    let command = words.first().cloned().unwrap_or_else(|| "do".into());
    // Arguments after the name of another program are not lepo's.
    let own = if means == FirstWordKind::Other { at } else { args.len() };
    let options: Vec<_> = args.iter().enumerate().take(own).take_while(|(_, word)| *word != "--").collect();
    let has = |option: &str| options.iter().any(|(_, word)| *word == option);
    // After `grep`, `-v` inverts the match.
    let has_v = options.iter().any(|&(i, word)| word == "-v" && (i < at || command != "grep"));
    if means == FirstWordKind::Command && command == "help" {
        return match words.len() == 1 && !has("--help") {
            true => PreparsedLine::Help { words: Vec::new(), is_short: true },
            false => PreparsedLine::HelpOn { words: words.into_iter().skip(1).collect() },
        };
    }
    if has("-h") || has("--help") {
        return PreparsedLine::Help { words, is_short: !has("--help") };
    }
    if has_v || has("--version") {
        return PreparsedLine::Version { verbose: has("--verbose") };
    }
    if means == FirstWordKind::Command && follows_do_option && command == "do" {
        let word = args.remove(at);
        args.insert(1, word);
    }
    if means == FirstWordKind::Question {
        args.insert(1.min(args.len()), "do".into());
    }
    PreparsedLine::Parse { args, command }
}
