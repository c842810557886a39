//! All pairs of options of `lepo do`: which of them are refused together, and with which first line.

use std::path::Path;

use clap::FromArgMatches;

use super::{Cli, Command, command};
use crate::commands::r#do::options::check_companions;

/// The record of these lines, which `LEPO_WRITE_DOCS=1` writes.
const RECORD: &str = "tests/data/option_pairs.txt";

/// Returns an option as it is typed, with a value that it accepts.
fn typed(arg: &clap::Arg) -> Vec<String> {
    let value = match arg.get_id().as_str() {
        "temperature" | "max_tokens" | "max_cost" | "max_tokens_total" | "keep" | "port" => "1",
        "effort" => "low",
        "tools" => "manual",
        "server_prompt" => "s/p",
        "prompt_args" => "a=b",
        _ => "x",
    };
    let Some(long) = arg.get_long() else { return vec![value.to_string()] };
    let takes_value = arg.get_action().takes_values() && arg.get_id() != "recorded";
    [format!("--{long}")].into_iter().chain(takes_value.then(|| value.to_string())).collect()
}

/// Returns the first line of the error, if there is one.
fn refusal(root: &mut clap::Command, words: &[String]) -> Option<String> {
    let line = ["lepo", "do"].into_iter().map(str::to_string).chain(words.iter().cloned());
    let parsed = root.try_get_matches_from_mut(line);
    let error = match parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(Cli { command: Command::Do(args), .. }) => check_companions(&args).err()?.to_string(),
        Ok(_) => panic!("another command"),
        Err(error) => error.to_string(),
    };
    error.lines().next().map(str::to_string)
}

#[test]
fn each_pair_of_options_is_taken_or_refused_as_recorded() {
    let mut root = command();
    let r#do = root.find_subcommand("do").unwrap();
    let is_own =
        |arg: &&clap::Arg| !arg.is_global_set() && !["help", "version"].contains(&arg.get_id().as_str());
    let options: Vec<Vec<String>> = r#do.get_arguments().filter(is_own).map(typed).collect();
    assert!(options.len() > 60, "{}", options.len());
    let mut lines = String::new();
    for (at, one) in options.iter().enumerate() {
        let pairs = options.iter().skip(at + 1).map(|other| [one.as_slice(), other].concat());
        for words in [one.clone()].into_iter().chain(pairs) {
            if let Some(refusal) = refusal(&mut root, &words) {
                lines.push_str(&format!("{}: {refusal}\n", words.join(" ")));
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORD);
    if lepo_base::env::var("LEPO_WRITE_DOCS").is_some() {
        std::fs::write(&path, &lines).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap();
    let other: Vec<_> =
        lines.lines().zip(recorded.lines()).filter(|(now, then)| now != then).take(3).collect();
    assert!(
        lines == recorded,
        "{} lines, recorded {}; {other:#?}",
        lines.lines().count(),
        recorded.lines().count()
    );
}
