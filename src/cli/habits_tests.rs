//! Each row of the habits, over the whole tree of commands.

use std::ffi::OsString;

use clap::Command;

use super::super::preparse::{PreparsedLine, preparse};
use super::{FirstWord, FirstWordKind, HABITS, NUMBER, TypedLine, fill_hint};

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
        // The row for a line with an argument is before.
        let has_other = HABITS.iter().any(|(other, _)| *other == format!("{row} …"));
        let rest: &[&str] = match (ends, has_other) {
            (true, _) => &[],
            (false, true) => &["-x"],
            (false, false) => &["x"],
        };
        let line: Vec<&str> = words.chain(rest.iter().copied()).collect();
        let (means, typed, parsed) = parse(&mut root, &line);
        // A word of `config` can be the name of a setting, and of `import` a file: the error comes later.
        let is_later = row.starts_with("config ") || row.starts_with("import ");
        let is_refused = means == FirstWordKind::Other || is_later || parsed.is_err();
        assert!(is_refused, "{row} is a line of lepo's");
        assert_eq!(typed.is_do, row.starts_with('-'), "{row}");
        assert_eq!(
            typed.hint_if(|_| true),
            Some(fill_hint((row, hint), "3", rest)),
            "another row is before {row}"
        );
        for command in commands(&fill_hint((row, hint), "3", rest)) {
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
fn a_hint_leaves_out_what_its_command_would_refuse() {
    let mut root = super::super::command();
    for (line, expected) in [
        (&["search", "two", "words"][..], "lepo grep 'two words'"),
        (&["find", "two", "words", "-i"], "lepo grep 'two words' -i"),
        (&["similar", "-i", "two", "words"], "lepo grep -i 'two words'"),
        (&["log", "-p", "-3"], "lepo log -n 3"),
        (&["log", "--oneline", "-5", "--graph"], "lepo log -n 5 --graph"),
        (&["log", "--since", "yesterday", "-3"], "lepo log -n 3"),
        (&["log", "-p", "-n", "3"], "lepo show"),
        (&["log", "-p", "HEAD^"], "lepo show @~"),
        (&["ls", "-la", "-l"], "lepo ls -l"),
        (&["history", "-5"], "lepo log"),
        (&["--print", "--output-format", "json", "hi"], "lepo do hi"),
        (&["--print", "--output-format=json", "two", "words"], "lepo do two words"),
        (&["exec", "--yolo", "HEAD"], "lepo do HEAD"),
        (&["rm", "-rf", "--yes", "@"], "lepo rm -y @"),
        (&["config", "--global", "set", "max_rounds", "5"], "lepo config max_rounds 5"),
        (&["config", "get", "--global", "max_rounds"], "lepo config max_rounds"),
        (&["init", "no such folder", "x"], "mkdir -p 'no such folder' && lepo -c 'no such folder' init"),
        (&["init", "/"], "lepo -c / init"),
        (&["checkout", "-"], "lepo --tail ADDR QUESTION"),
        (&["checkout", "HEAD~2", "x"], "lepo --tail @~2 QUESTION"),
        (&["switch", "--detach", "x"], "lepo --tail ADDR QUESTION"),
        (&["clone", "/tmp/x", "x"], "lepo sync /tmp/x"),
        (&["rev-parse", "--short", "HEAD"], "lepo resolve ADDR"),
    ] {
        let (_, typed, _) = parse(&mut root, line);
        let hint = typed.hint_if(|_| true).unwrap();
        let is_its = hint.contains(&format!("`{expected}`")) || hint.ends_with(&format!(": {expected}"));
        assert!(is_its, "{line:?}: {hint}");
        for command in commands(&hint) {
            let line = shlex::split(command).unwrap();
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let (means, _, parsed) = parse(&mut root, &line);
            assert!(means != FirstWordKind::Other && parsed.is_ok(), "{line:?}: {command}: {parsed:?}");
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
