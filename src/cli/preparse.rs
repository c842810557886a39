//! Handles help, version and the implied `do` before the real parser runs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::first_word::{FirstWord, FirstWordKind};

pub(super) enum PreparsedLine {
    /// Arguments for the parser, and the command that they name.
    Parse { args: Vec<OsString>, command: String },
    /// Help for the command that the arguments name: a screen, or complete.
    Help { words: Vec<String>, is_short: bool },
    /// `lepo help` with arguments, each of which must name a command.
    HelpOn { words: Vec<String> },
    /// The version; details with `--verbose`.
    Version { verbose: bool },
}

/// Handles `-h` and `-v` before everything else, help before version. Without a command, implies `do`: if the first
/// argument cannot name one, like a question with white space, or follows an option of `do` and names none.
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

/// Finds the value of `--cd` on a line that asks for help or the version and is not parsed; the last one if there are
/// several.
pub(super) fn folder_for_help(args: &[OsString], first: &FirstWord) -> Option<PathBuf> {
    // In `lepo grep`, `-c` counts.
    let is_grep =
        first.means == FirstWordKind::Command && args.get(first.at).is_some_and(|word| word == "grep");
    let last_short = if is_grep { first.at } else { args.len() };
    let given =
        args.iter().enumerate().skip(1).take_while(|(_, word)| *word != "--").filter_map(|(at, word)| {
            let word = word.as_bytes();
            let value = match word.strip_prefix(b"--cd") {
                Some(b"") => b"",
                Some(rest) => rest.strip_prefix(b"=")?,
                None if word.starts_with(b"--") || !word.starts_with(b"-") || at > last_short => return None,
                // The last one of several short options in one word may have a value.
                None => word.get(word.iter().position(|byte| *byte == b'c')? + 1..)?,
            };
            if value.is_empty() {
                args.get(at + 1).cloned()
            } else {
                Some(OsStr::from_bytes(value).to_os_string())
            }
        });
    given.last().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_found_on_every_line_that_asks_for_help() {
        let root = super::super::command();
        for (line, folder) in [
            ("lepo -c docs help ls", Some("docs")),
            ("lepo -cdocs --help", Some("docs")),
            ("lepo ls --cd=docs --help", Some("docs")),
            ("lepo ls -h --cd docs", Some("docs")),
            ("lepo -nc docs -h", Some("docs")),
            ("lepo -n -c docs --help", Some("docs")),
            ("lepo -c one -c docs help", Some("docs")),
            ("lepo help ls -c docs", Some("docs")),
            ("lepo sync --help --cd docs", Some("docs")),
            ("lepo --cd docs help deploy", Some("docs")),
            ("lepo --bogus --cd docs ls --help", Some("docs")),
            ("lepo -c docs --version --verbose", Some("docs")),
            ("lepo -c docs grep -c x --help", Some("docs")),
            ("lepo grep -c docs --help", None),
            ("lepo -m c --help", None),
            ("lepo ls --help -- -c docs", None),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let found = folder_for_help(&args, &FirstWord::find(&root, &args));
            assert_eq!(found, folder.map(PathBuf::from), "{line}");
        }
    }
}
