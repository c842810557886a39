//! The commands by what a person wants to do: the list of `lepo --help`, of lepo(1) and of the README.

use clap::Command;

/// Each command once, in the order in which a newcomer meets them.
pub const TASKS: &[(&str, &[&str])] = &[
    ("Ask and answer", &["do"]),
    ("Look around", &["browse", "ls", "show", "log", "grep", "diff", "stats", "watch", "import", "export"]),
    ("Change", &["branch", "title", "edit", "rebase", "rm", "init"]),
    ("Share", &["sync"]),
    ("Set up", &["model", "mcp", "prompt", "config", "trust", "completions"]),
    (FOR_SCRIPTS, &["fsck", "tidy", "add", "resolve", "root"]),
];

/// The commands that a person seldom types: they stand below the others.
pub const FOR_SCRIPTS: &str = "For scripts and upkeep";

/// The names of all commands.
pub fn names() -> Vec<&'static str> {
    TASKS.iter().flat_map(|(_, names)| names.iter().copied()).chain(["help"]).collect()
}

/// The list, a command a line under the headings of what it is for.
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
