//! Errors of the parser, over the whole tree of commands.

use std::ffi::OsString;

use clap::Command;

use super::super::first_word::{FirstWord, FirstWordKind};
use super::super::preparse::{PreparsedLine, preparse};
use super::{name_of, parse_error};

/// The message and the hint of a command line, if it cannot be parsed.
fn error_of(root: &mut Command, words: &[String]) -> Option<(String, String)> {
    let args: Vec<OsString> = ["lepo".to_string()].iter().chain(words).map(OsString::from).collect();
    let first = FirstWord { at: 1, means: FirstWordKind::Command, follows_do_option: false };
    let PreparsedLine::Parse { args, command } = preparse(args, first) else { return None };
    let error = root.try_get_matches_from_mut(&args).err()?;
    // A request for help is taken.
    if error.kind() == clap::error::ErrorKind::DisplayHelp {
        return None;
    }
    let error = parse_error(&error, root, &command, &args);
    let hint = error.hint_for(lepo_base::hint::HintTarget::SHELL).unwrap_or_default();
    Some((error.message, hint))
}

fn error_of_line(root: &mut Command, line: &str) -> Option<(String, String)> {
    error_of(root, &line.split(' ').map(str::to_string).collect::<Vec<_>>())
}

/// The paths of all commands and subcommands.
fn paths(root: &Command) -> Vec<(Vec<String>, &Command)> {
    let mut paths = Vec::new();
    for command in root.get_subcommands() {
        paths.push((vec![command.get_name().to_string()], command));
        for inner in command.get_subcommands() {
            paths.push((vec![command.get_name().to_string(), inner.get_name().to_string()], inner));
        }
    }
    paths
}

#[test]
fn every_option_in_the_wrong_place_is_named_and_no_hint_repeats_the_line() {
    let parser = &mut super::super::command();
    let mut root = super::super::command();
    root.build();
    let mut options: Vec<String> = vec!["--bogus".into(), "--jso".into()];
    for (_, command) in paths(&root) {
        options.extend(command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))));
    }
    options.sort();
    options.dedup();
    let mut refused = 0;
    for (path, command) in paths(&root).into_iter().filter(|(path, _)| path[0] != "help") {
        let mut lines = Vec::new();
        for option in &options {
            lines.push([&path[..], std::slice::from_ref(option)].concat());
            lines.push([&path[..], &[option.clone(), "nobody".into()]].concat());
            lines.extend(
                command
                    .get_subcommands()
                    .map(|inner| [&path[..], &[option.clone(), inner.get_name().to_string()]].concat()),
            );
        }
        for line in lines {
            let Some((message, hint)) = error_of(parser, &line) else { continue };
            refused += 1;
            let text = line.join(" ");
            let option = &line[path.len()];
            assert!(message == message.trim() && !message.contains("  "), "{text}: {message:?}");
            let typed = [option.as_str(), line.last().unwrap(), "missing ", "needs "];
            assert!(typed.iter().any(|word| message.contains(word)), "{text}: {message:?}");
            assert_ne!(hint, format!("did you mean `{option}`?"), "{text}");
            assert_ne!(hint, format!("did you mean `lepo {text}`?"), "{text}");
            assert!(!hint.contains("``") && !hint.contains("''"), "{text}: {hint:?}");
            // The remedy is a line that the parser takes, or wants only arguments of.
            if let Some(meant) =
                hint.strip_prefix("did you mean `lepo ").and_then(|hint| hint.strip_suffix("`?"))
            {
                let again = error_of_line(parser, meant).map(|(message, _)| message).unwrap_or_default();
                assert!(
                    again.is_empty()
                        || again.contains("takes - and nothing else")
                        || again.starts_with("missing ")
                        || again.contains("needs a value"),
                    "{text}: {meant}: {again}"
                );
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn errors_name_the_command_that_takes_an_option() {
    let parser = &mut super::super::command();
    for (line, message, hint) in [
        (
            "model --json nobody",
            "unknown command nobody of lepo model",
            "`lepo model --help` lists its arguments",
        ),
        ("model --json lss", "unknown command lss of lepo model", "did you mean `lepo model ls --json`?"),
        ("mcp --json ls", "--json cannot be used before ls", "did you mean `lepo mcp ls --json`?"),
        (
            "mcp --json serve",
            "--json cannot be used before serve",
            "`lepo mcp serve --help` lists its arguments",
        ),
        ("model get --json", "unknown option --json", "did you mean `lepo model ls --json`?"),
        ("prompt --json", "unknown option --json", "did you mean `lepo prompt ls --json`?"),
        ("model add --providr x", "unknown option --providr", "did you mean `--provider`?"),
        ("model add --bogus", "unknown option --bogus", "`lepo model add --help` lists its arguments"),
        ("ls --jsn", "unknown option --jsn", "did you mean `--json`?"),
    ] {
        let error = error_of_line(parser, line);
        assert_eq!(error, Some((message.to_string(), hint.to_string())), "{line}");
    }
}

#[test]
fn a_name_has_no_values() {
    for (argument, name) in [
        ("--tail <ADDR>", "--tail"),
        ("--remote[=<NAME>]", "--remote"),
        ("[PROMPT]...", "PROMPT"),
        ("<PATTERN>", "PATTERN"),
        ("<--parallel|--debate>", "--parallel|--debate"),
        ("-n", "-n"),
    ] {
        assert_eq!(name_of(argument), name);
    }
}
