//! Each row of the habits, over the whole tree of commands.

use std::ffi::OsString;

use clap::Command;

use super::super::preparse::{PreparsedLine, preparse};
use super::{FirstWord, FirstWordKind, HABITS, NUMBER, TypedLine, filled};

/// Parses a line after `lepo`; `Err` if the parser does not take it.
fn parse(root: &mut Command, line: &[&str]) -> (FirstWordKind, TypedLine, Result<(), String>) {
    let args: Vec<OsString> = ["lepo"].iter().chain(line).map(OsString::from).collect();
    let first = FirstWord::find(root, &args);
    let (means, typed) = (first.means, TypedLine::new(&args, &first));
    let PreparsedLine::Parse { args, .. } = preparse(args, first) else { return (means, typed, Ok(())) };
    let parsed = root.try_get_matches_from_mut(&args).map(drop);
    (means, typed, parsed.map_err(|error| error.to_string()))
}

/// The commands of a hint: in backticks, or after the last colon.
fn commands(hint: &str) -> Vec<&str> {
    let quoted = hint.split('`').skip(1).step_by(2).filter_map(|command| command.strip_prefix("lepo "));
    let last =
        hint.rsplit_once(": lepo ").map(|(_, command)| command).filter(|command| !command.contains('`'));
    quoted.chain(last).collect()
}

#[test]
fn every_habit_fails_today_and_its_hint_is_a_line_that_the_parser_takes() {
    let mut root = super::super::command();
    for (row, hint) in HABITS {
        let ends = row.ends_with(" $");
        let words = row.split(' ').filter(|word| !matches!(*word, "$" | "…")).map(|word| match word {
            NUMBER => "-3",
            word => word,
        });
        let rest: &[&str] = if ends { &[] } else { &["x"] };
        let line: Vec<&str> = words.chain(rest.iter().copied()).collect();
        let (means, typed, parsed) = parse(&mut root, &line);
        // A word of `config` can be the name of a setting, and of `import` a file: the error comes later.
        let is_later = row.starts_with("config ") || row.starts_with("import ");
        let is_refused = means == FirstWordKind::Other || is_later || parsed.is_err();
        assert!(is_refused, "{row} is a line of lepo's");
        assert_eq!(typed.is_do, row.starts_with('-'), "{row}");
        assert_eq!(typed.hint_if(|_| true), Some(filled(hint, "3", rest)), "another row is before {row}");
        for command in commands(&filled(hint, "3", rest)) {
            let value = |word| match word {
                "N" => "3",
                "WHEN" => "2025-01-01",
                "KINDS" => "a",
                "x" if command.starts_with("completions") => "bash",
                word => word,
            };
            let line: Vec<&str> = command.split(' ').take_while(|word| *word != "<").map(value).collect();
            let (means, _, parsed) = parse(&mut root, &line);
            assert!(means != FirstWordKind::Other && parsed.is_ok(), "{row}: {command}: {parsed:?}");
        }
    }
}

#[test]
fn words_of_a_question_are_no_habit() {
    let mut root = super::super::command();
    for line in [
        &["do", "status", "--bogus"][..],
        &["do", "--bogus", "commit"],
        &["how do I commit?", "--bogus"],
        &["--bogus", "--", "--resume"],
        &["grep", "--bogus", "log", "-3"],
        &["log", "--bogus", "--", "--oneline"],
        &["add", "--kind", "nobody"],
        &["init", "--bogus"],
    ] {
        let (_, typed, parsed) = parse(&mut root, line);
        assert!(parsed.is_err(), "{line:?}");
        assert_eq!(typed.hint_if(|_| true), None, "{line:?}");
    }
}
