//! Fills the hint of a habit with the arguments of the typed line, without arguments that the suggested command would refuse.

use std::path::Path;

use super::table::{HABITS, NUMBER, is_number, is_option};
use lepo_base::error::quoted;

/// Options of other programs that the next argument belongs to.
const WITH_VALUE: &[&str] = &[
    "--grep",
    "-S",
    "--since",
    "--after",
    "--until",
    "--before",
    "--author",
    "--limit",
    "-A",
    "-B",
    "--days",
    "--cid",
    "--conversation",
    "--save",
    "--key",
    "--session",
    "--role",
    "--output-format",
    "--append-system-prompt",
    "--system-prompt",
    "--image",
    "--mcp-config",
    "--rag",
];

/// Options of lepo's that count once, with the other form of each.
const ONCE: &[(&str, &str)] = &[("-y", "--yes"), ("-l", "--long"), ("-d", "--delete"), ("-q", "--quiet")];

/// Sets the number and the other arguments into the hint of a row.
pub(super) fn fill_hint((typed, hint): (&str, &str), number: &str, rest: &[&str]) -> String {
    let command = command_before_arguments(hint);
    let rest = without_habits((typed, hint), command, rest);
    let takes_text = ["do", "grep"].contains(&command.unwrap_or("do")) && !hint.contains("--tail %");
    let is_text = typed.starts_with('-') || takes_text;
    let shown = |word: &str| match at_for_head(word).filter(|_| !is_text) {
        Some(address) => address,
        None => quoted(word).into_owned(),
    };
    let next = rest.first().filter(|word| !word.starts_with('-')).map(|word| format!(" {}", shown(word)));
    let folder = rest.first().filter(|_| hint.contains("lepo -c %"));
    let hint = match folder.is_some_and(|folder| !Path::new(folder).exists()) {
        true => hint.replace("lepo -c %", "mkdir -p % && lepo -c %"),
        false => hint.to_string(),
    };
    let all: String = rest.iter().map(|word| format!(" {}", shown(word))).collect();
    let filled = hint.replace('#', number).replace(" '…'", &pattern(&rest));
    filled.replace(" …", &all).replace(" %", next.as_deref().unwrap_or_default())
}

/// Returns the arguments of a search, whose pattern becomes one: what is before the first option, but may follow flags.
fn pattern(rest: &[&str]) -> String {
    let is_flag = |word: &&&str| matches!(**word, "-i" | "-w" | "-F" | "-l");
    let flags = rest.iter().take_while(is_flag).count();
    let (flags, rest) = rest.split_at(flags);
    let words = rest.iter().take_while(|word| !word.starts_with('-')).count();
    let (words, options) = rest.split_at(words);
    let joined = words.join(" ");
    let words = if words.is_empty() { None } else { Some(joined.as_str()) };
    let all = flags.iter().copied().chain(words).chain(options.iter().copied());
    all.map(|word| format!(" {}", quoted(word))).collect()
}

/// Returns the command before the other arguments in a hint: `do` if an option is before them.
fn command_before_arguments(hint: &str) -> Option<&str> {
    let (before, _) = hint.split_once(['…', '%'])?;
    let (_, line) = before.rsplit_once("lepo ")?;
    let first = line.split(' ').next()?;
    Some(if first.starts_with('-') { "do" } else { first })
}

/// Leaves out what the suggested command would refuse: other habits, and options that the hint has already.
fn without_habits<'a>((typed, hint): (&str, &str), command: Option<&str>, rest: &[&'a str]) -> Vec<&'a str> {
    let typed_command = typed.split(' ').next().filter(|word| !word.starts_with('-')).unwrap_or("do");
    let habit = |word: &str| {
        HABITS.iter().find_map(|(row, _)| {
            let (row_command, option) = match row.starts_with('-') {
                true => ("do", *row),
                false => row.split_once(' ')?,
            };
            let is_its = row_command == typed_command || Some(row_command) == command;
            let is_same = match option {
                NUMBER => is_number(word),
                option => option.starts_with('-') && is_option(word, option),
            };
            (is_its && is_same).then_some(option)
        })
    };
    let has = |option: &str| hint.split([' ', '`']).any(|word| word == option);
    let is_twice = |word: &str| {
        ONCE.iter().any(|(short, long)| (word == *short || word == *long) && (has(short) || has(long)))
    };
    let mut accepted = Vec::new();
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" {
            accepted.push(word);
            accepted.extend(words);
            break;
        }
        match habit(word) {
            Some(option) if word == option && WITH_VALUE.contains(&option) => drop(words.next()),
            Some(_) => {}
            None if is_twice(word) => {}
            None => accepted.push(word),
        }
    }
    // `config --global get NAME`.
    let is_word_of_its = |word: &str| HABITS.iter().any(|(row, _)| *row == format!("config {word}"));
    if command == Some("config") && accepted.first().is_some_and(|first| is_word_of_its(first)) {
        accepted.remove(0);
    }
    accepted
}

/// Returns lepo's form of an address or a range of git with `HEAD`; `None` if it has none.
pub(super) fn at_for_head(word: &str) -> Option<String> {
    let ends: Vec<&str> = word.split("..").collect();
    let lepos = |end: &str| match end.strip_prefix("HEAD") {
        Some(steps) => Some(format!("@{}", tildes(steps)?)),
        None => Some(quoted_end(end)),
    };
    let all: Option<Vec<String>> = ends.iter().map(|end| lepos(end)).collect();
    all.filter(|_| ends.iter().any(|end| end.starts_with("HEAD"))).map(|all| all.join(".."))
}

/// Quotes an end of a range, which may be empty.
fn quoted_end(end: &str) -> String {
    if end.is_empty() { String::new() } else { quoted(end).into_owned() }
}

/// Converts steps back, each `^` to a `~`: a shell does nothing with that inside an argument. `None` for git's other
/// parents, and for a longer name.
fn tildes(steps: &str) -> Option<String> {
    let mut tildes = String::new();
    let mut rest = steps;
    while let Some(sign) = rest.chars().next() {
        let after = rest.strip_prefix(['~', '^'])?;
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, others) = after.split_at(digits);
        match (sign, count) {
            ('~', count) => tildes += &format!("~{count}"),
            (_, "" | "1") => tildes.push('~'),
            _ => return None,
        }
        rest = others;
    }
    Some(tildes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_git_s_addresses_of_the_newest_message_become_lepos() {
        for (word, expected) in [
            ("HEAD", Some("@")),
            ("HEAD~1", Some("@~1")),
            ("HEAD^", Some("@~")),
            ("HEAD^^", Some("@~~")),
            ("HEAD^1", Some("@~")),
            ("HEAD~2^", Some("@~2~")),
            ("HEAD~2..HEAD", Some("@~2..@")),
            ("main..HEAD", Some("main..@")),
            ("..HEAD", Some("..@")),
            ("HEADING", None),
            ("HEADER", None),
            ("HEAD2", None),
            ("HEAD^2", None),
            ("HEAD@{1}", None),
            ("HEAD:file", None),
            ("a..b", None),
            ("", None),
        ] {
            assert_eq!(at_for_head(word).as_deref(), expected, "{word}");
        }
    }
}
