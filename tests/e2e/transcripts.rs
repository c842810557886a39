//! Transcripts: `tests/cases/COMMAND.md` shows commands and everything they print; each is run and compared.
//!
//! Each section (a heading) has a home of its own, with a directory `work` where its commands run. In it:
//!
//! - a block `console`: `$ COMMAND` for bash (lines that begin with `> ` continue it), then what it prints on stdout and
//!   stderr, in order; `? N` as the last line is an exit code other than 0.
//! - a block whose language is followed by a path, such as `toml config/config.toml`: a file below the home.
//!
//! Ids become `$A`, `$B` in the order in which they appear, and are variables of the next commands; the last eight
//! letters, as terminals have them, `${A: -8}`. Times of today become `$TIME`, its date `$DAY`, the home `$HOME`, and
//! the directory `work` `$PWD`.
//!
//! `LEPO_WRITE_DOCS=1 cargo test --test e2e transcripts` writes what the commands print now.

use std::path::PathBuf;

use clap::Command;
use lepo::cli;
use lepo_store::bubb::BubbId;
use similar::TextDiff;

use crate::home::{Home, run};

macro_rules! transcripts {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() {
            check_transcript(stringify!($name));
        })*
    };
}

transcripts! {
    add approve branch config deny diff export fsck grep help import log ls mcp model prompt rebase resolve rm show stats
    tidy title
}

/// Length of an id, of its part that terminals show, and the number of ids that one section can name.
const ID: usize = 26;
const SHORT_ID: usize = 8;
const MOST_IDS: usize = 26;

#[test]
fn each_file_is_run() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, NAMES);
}

#[test]
fn each_command_has_its_help() {
    fn usages(command: &Command, names: &str, found: &mut Vec<String>) {
        found.push(format!("$ {names} -h\n"));
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            usages(below, &format!("{names} {}", below.get_name()), found);
        }
    }
    let mut root = cli::command();
    // Only a built command knows its subcommands.
    root.build();
    let mut expected = Vec::new();
    usages(&root, "lepo", &mut expected);
    let shown = std::fs::read_to_string(folder().join("help.md")).unwrap();
    expected.retain(|usage| !shown.contains(usage.as_str()));
    assert!(expected.is_empty(), "not in help.md:\n{}", expected.concat());
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases"))
}

fn check_transcript(name: &str) {
    let path = folder().join(format!("{name}.md"));
    let expected = std::fs::read_to_string(&path).unwrap();
    let found = run_transcript(&expected);
    if std::env::var_os("LEPO_WRITE_DOCS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let diff = TextDiff::from_lines(&expected, &found);
    assert!(
        expected == found || std::env::var_os("LEPO_WRITE_DOCS").is_some(),
        "LEPO_WRITE_DOCS=1 cargo test --test e2e transcripts writes what is printed now\n{}",
        diff.unified_diff().header(&path.display().to_string(), "printed now")
    );
}

/// Runs the commands of a document; returns it with their present output.
fn run_transcript(document: &str) -> String {
    let mut section = Section::new();
    let mut found = String::new();
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        found += line;
        found.push('\n');
        if line.starts_with('#') {
            section = Section::new();
        }
        let language = line.trim_start_matches('`');
        let fence = &line[..line.len() - language.len()];
        if fence.len() < 3 {
            continue;
        }
        let mut block = Vec::new();
        while let Some(line) = lines.next_if(|line| *line != fence) {
            block.push(line);
        }
        assert!(lines.next().is_some(), "a block is open at the end: {line}");
        match language.split_once(' ') {
            Some((_, path)) => {
                section.home.write(path, block.join("\n") + "\n");
                found += &block.iter().map(|line| format!("{line}\n")).collect::<String>();
            }
            None if language == "console" => commands(&block).iter().for_each(|command| {
                found += &section.run_command(command);
            }),
            None => found += &block.iter().map(|line| format!("{line}\n")).collect::<String>(),
        }
        found += &format!("{fence}\n");
    }
    found
}

/// The commands of a block, each as its lines without their marks.
fn commands(block: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in block {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_string());
        } else if let (Some(more), Some(command)) = (line.strip_prefix("> "), commands.last_mut()) {
            *command += "\n";
            *command += more;
        }
    }
    commands
}

struct Section {
    home: Home,
    ids: Vec<String>,
}

impl Section {
    fn new() -> Section {
        Section { home: Home::new(), ids: Vec::new() }
    }

    /// The command with its marks, what it prints, and its exit code if that is not 0.
    fn run_command(&mut self, command: &str) -> String {
        let mut shell = self.home.shell(&format!("exec 2>&1\n{command}"));
        shell.env("COLUMNS", "80").envs(self.ids.iter().enumerate().map(|(at, id)| (letter(at), id)));
        let ran = run(shell, b"");
        let mut printed = self.normalize(&ran.out);
        if !printed.is_empty() && !printed.ends_with('\n') {
            printed += "\n";
        }
        let code = if ran.code == 0 { String::new() } else { format!("? {}\n", ran.code) };
        format!("$ {}\n{printed}{code}", command.replace('\n', "\n> "))
    }

    fn normalize(&mut self, text: &str) -> String {
        let text = text.replace(self.home.work().to_str().unwrap(), "$PWD");
        let text = text.replace(self.home.path().to_str().unwrap(), "$HOME");
        // Whether the program beside lepo is built, which one test is not to depend on.
        let text = text.replace("lepo-embedded is not installed", "not installed");
        let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
        let named: String = words.map(|word| self.name_id(word)).collect();
        without_times(&named)
    }

    /// A word with what ends it; its id by name.
    fn name_id(&mut self, word: &str) -> String {
        let digits = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let end = &word[digits.len()..];
        if digits.len() == ID && BubbId::parse(digits.as_bytes()).is_some() {
            let at = self.ids.iter().position(|id| id == digits).unwrap_or_else(|| {
                assert!(self.ids.len() < MOST_IDS, "a section has at most {MOST_IDS} ids");
                self.ids.push(digits.to_string());
                self.ids.len() - 1
            });
            return format!("${}{end}", letter(at));
        }
        match self.ids.iter().position(|id| digits.len() == SHORT_ID && id.ends_with(digits)) {
            Some(at) => format!("${{{}: -8}}{end}", letter(at)),
            None => word.to_string(),
        }
    }
}

fn letter(at: usize) -> String {
    char::from(b'A' + at as u8).to_string()
}

/// Dates, with or without the time of day, and the milliseconds of documents.
const TIMES: &str =
    r#"([0-9]{4}-[0-9]{2}-[0-9]{2})([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?Z?)?)?|("time": ?)[0-9]{13}"#;

/// The text with `$TIME` and `$DAY` for what is of this day or the day before.
fn without_times(text: &str) -> String {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let name = |found: &regex::Captures| {
        let Some(day) = found.get(1) else { return format!("{}$TIME", &found[5]) };
        match day.as_str().parse::<jiff::civil::Date>() {
            Ok(day) if (today - day).get_days().abs() > 1 => found[0].to_string(),
            Ok(_) if found.get(2).is_some() => "$TIME".into(),
            Ok(_) => "$DAY".into(),
            Err(_) => found[0].to_string(),
        }
    };
    regex::Regex::new(TIMES).unwrap().replace_all(text, name).into_owned()
}

#[test]
fn what_a_run_alone_decides_has_a_name() {
    let mut section = Section::new();
    let (a, b) = ("01JB3Z0Q4N8V2K5T7W9X1Y3Z5A", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5B");
    let now = jiff::Timestamp::now().to_string();
    let text = format!(
        "{b}-u0-{a}.md of {}/work/x: X1Y3Z5A 9X1Y3Z5A, {now} {} {} 2025-11-01",
        section.home.path().display(),
        &now[..10],
        &now[..16]
    );
    let expected = "$A-u0-$B.md of $PWD/x: X1Y3Z5A ${B: -8}, $TIME $DAY $TIME 2025-11-01";
    assert_eq!(section.normalize(&text), expected);
    assert_eq!(without_times(r#"{"time":1795706241471}"#), r#"{"time":$TIME}"#);
}

#[test]
fn a_document_shows_what_is_printed_now() {
    let document = "# A\n```console\n$ echo one; echo two >&2\nother words\n$ cat <<'X'; exit 3\n> a\n> X\n? 1\n```\ntext\n```txt work/f\nb\n```\n```console\n$ cat f\n```\n";
    let expected = "# A\n```console\n$ echo one; echo two >&2\none\ntwo\n$ cat <<'X'; exit 3\n> a\n> X\na\n? 3\n```\ntext\n```txt work/f\nb\n```\n```console\n$ cat f\nb\n```\n";
    assert_eq!(run_transcript(document), expected);
}
