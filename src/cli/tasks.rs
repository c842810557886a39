//! The commands by task: the list in `lepo --help` and lepo(1). The options of a day.

use clap::Command;

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

/// Options of every day by command, which `-h` and the manual list first, in this order.
const DAILY_OPTIONS: &[(&str, &[&str])] = &[(
    "do",
    &[
        "new",
        "tail",
        "retry",
        "model",
        "file",
        "context",
        "attach",
        "run",
        "system",
        "tools",
        "show-past",
        "debate",
        "parallel",
        "continue",
        "no-keep",
        "code",
        "output",
        "quiet",
        "json",
        "dry-run",
    ],
)];

/// Returns the long names of the options of a day of this command, in their order.
pub fn daily_options(command: &str) -> &'static [&'static str] {
    DAILY_OPTIONS.iter().find(|(name, _)| *name == command).map_or(&[], |(_, names)| names)
}

/// Returns the names of all commands, and `help`.
pub fn names() -> Vec<&'static str> {
    TASKS.iter().flat_map(|(_, names)| names.iter().copied()).chain(["help"]).collect()
}

/// Formats the commands under the headings of their tasks, one per line.
pub fn list(root: &Command) -> String {
    let mut list = String::new();
    for (task, names) in TASKS {
        list += &format!("{task}:\n");
        for name in *names {
            let about = root.find_subcommand(name).and_then(Command::get_about).cloned().unwrap_or_default();
            list += &format!("  {name:<11}  {about}\n");
        }
        list.push('\n');
    }
    list
}
