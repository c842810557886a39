//! The commands by task: the list in `lepo --help` and lepo(1). The options of a day.

use clap::Command;

use crate::term::{Column, Table, fold};

/// Each command once, in the order in which a new user meets them.
pub const TASKS: &[(&str, &[&str])] = &[
    ("Ask and answer", &["do"]),
    ("Look around", &["browse", "ls", "show", "log", "grep", "diff", "stats", "watch", "import", "export"]),
    ("Change", &["branch", "title", "edit", "rebase", "rm", "undo", "init"]),
    ("Share", &["sync"]),
    ("Set up", &["model", "mcp", "prompt", "config", "trust", "completions"]),
    (FOR_SCRIPTS, &["fsck", "tidy", "add", "resolve", "root"]),
];

/// Commands that users rarely type: listed last.
pub const FOR_SCRIPTS: &str = "For scripts and upkeep";

/// Options of every day by command: `-h` lists only these, and those of `do` come first in the manual. A command
/// without a row has all in `-h`.
const DAILY_OPTIONS: &[(&str, &[&str])] = &[
    (
        "do",
        &[
            "file", "context", "attach", "run", "system", "new", "tail", "retry", "model", "tools",
            "dry-run", "json", "output", "quiet",
        ],
    ),
    (
        "grep",
        &[
            "ignore-case",
            "word-regexp",
            "fixed-strings",
            "context",
            "files-with-matches",
            "kind",
            "everywhere",
            "since",
            "model",
            "max-count",
        ],
    ),
    ("import", &["dry-run", "tools", "since", "all", "from", "watch", "hook", "json"]),
    (
        "rebase",
        &["interactive", "onto", "root", "system", "drop", "replace", "all", "dry-run", "branch", "json"],
    ),
    ("rm", &["older-than", "unanswered", "now", "empty", "redact", "all", "force", "dry-run", "yes", "json"]),
    ("sync", &["yes", "as", "heads", "mine", "not-mine", "allow", "watch", "status"]),
];

/// Returns the long names of the options of a day of this command, in their order.
pub fn daily_options(command: &str) -> &'static [&'static str] {
    DAILY_OPTIONS.iter().find(|(name, _)| *name == command).map_or(&[], |(_, names)| names)
}

/// Returns the names of all commands, and `help`.
pub fn names() -> Vec<&'static str> {
    TASKS.iter().flat_map(|(_, names)| names.iter().copied()).chain(["help"]).collect()
}

/// On fewer columns, text is below its heading.
const NARROW: usize = 72;

const EXAMPLES: &str = "\
Conversations with language models as plain files, the way git keeps source.

  lepo                          start an interactive conversation
  lepo 'What does this do?'     ask; the next question continues from here
  git diff | lepo 'Review it'   ask about the output of another program
  lepo COMMAND ...              run a command:
";

/// Formats examples, then the names of the commands of each task.
pub fn summary(columns: usize) -> String {
    let is_narrow = columns < NARROW;
    let example = |line: &str| match line.trim_start().find("  ") {
        // Its comment does not fit after it.
        Some(end) if is_narrow => format!("{}\n", line.split_at(end + 2).0),
        _ => format!("{line}\n"),
    };
    let mut summary: String = EXAMPLES.lines().map(example).collect();
    let table = list_table(TASKS.iter().map(|(task, _)| [format!("  {task}:")]), columns);
    for (task, names) in TASKS {
        summary += if *task == FOR_SCRIPTS { "\n\n" } else { "\n" };
        summary += &table.row(&[format!("  {task}:")], |room| fold(&names.join(", "), room));
    }
    summary + "\n\n`lepo COMMAND -h` summarises a command; `lepo --help` prints the full help.\n"
}

/// Measures the heads of a list; on a narrow terminal, texts are below them.
fn list_table(heads: impl Iterator<Item = [String; 1]>, columns: usize) -> Table {
    let least = if columns < NARROW { usize::MAX } else { 0 };
    Table::new(&[Column::WHOLE, Column::REST.at_least(least)], 2, heads, Some(columns))
}

/// Formats the commands under the headings of their tasks, each with its purpose.
pub fn list(root: &Command, columns: usize) -> String {
    let mut list = String::new();
    let names = TASKS.iter().flat_map(|(_, names)| *names);
    let table = list_table(names.map(|name| [format!("  {name}")]), columns);
    for (task, names) in TASKS {
        list += &format!("{task}:\n");
        for name in *names {
            let about = root.find_subcommand(name).and_then(Command::get_about).cloned().unwrap_or_default();
            let row = table.row(&[format!("  {name}")], |room| fold(&about.to_string(), room));
            list += &format!("{row}\n");
        }
        list.push('\n');
    }
    list
}
