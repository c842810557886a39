//! Describes a program whose files changed since the user agreed to them, with the differences.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::term::{fold, quote};
use lepo_store::bubb::plural_in_thousands;
use lepo_turn::config::ChangedFile;
use lepo_turn::{ChangedProgram, ProgramRole};

/// Maximum number of lines to show per file.
const MOST_LINES: usize = 60;

/// Maximum number of files whose differences are shown; for further files, only the names are.
const MOST_SHOWN: usize = 40;

/// Unchanged lines around a change.
const AROUND: usize = 1;

/// Returns the program and its files, each with the lines that differ. Names and lines are foreign text, and marked
/// as such.
pub fn changed_text(changed: &ChangedProgram, columns: usize) -> String {
    let files = match changed.files.len() {
        1 => "a file that changed since you agreed to it".to_string(),
        count => format!("{count} files that changed since you agreed to them"),
    };
    let about = "runs outside any sandbox, and is started from";
    let mut text = fold(&format!("{} {about} {files}.", role_text(&changed.role)), columns);
    text.push('\n');
    for (index, file) in changed.files.iter().enumerate() {
        text.push_str(&quote("  ", &file.name.to_string_lossy(), columns));
        let lines = if index < MOST_SHOWN { difference(file) } else { Vec::new() };
        for line in lines {
            text.push_str(&quote("  | ", &line, columns));
        }
    }
    text
}

/// Describes the role of a program.
pub(super) fn role_text(role: &ProgramRole) -> String {
    match role {
        ProgramRole::Server(name) => format!("MCP server {name:?}"),
        ProgramRole::Model(name) => format!("model {name:?}"),
        ProgramRole::Key(name) => format!("the program that prints the key of model {name:?}"),
    }
}

/// Returns the lines that differ, with `-` and `+` before them, or a description instead of them.
fn difference(file: &ChangedFile) -> Vec<String> {
    if let Some(about) = &file.about {
        return vec![about.clone()];
    }
    let Some(new) = &file.new else { return vec!["(too long to be shown)".to_string()] };
    if new.contains(&0) || file.old.as_ref().is_some_and(|old| old.contains(&0)) {
        return vec![format!("(not text, {})", plural_in_thousands(new.len(), "byte"))];
    }
    if file.old.is_none() && !file.is_new {
        return vec!["(its earlier content was not stored)".to_string()];
    }
    let old = file.old.as_deref().unwrap_or_default();
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old), lines(new));
    let mut shown = Vec::new();
    for (index, ops) in
        group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), AROUND).iter().enumerate()
    {
        if index > 0 {
            shown.push("…".to_string());
        }
        for op in ops {
            let add = |mark: &str, lines: &[&[u8]], shown: &mut Vec<String>| {
                shown.extend(lines.iter().map(|line| format!("{mark}{}", String::from_utf8_lossy(line))));
            };
            let (before, after) =
                (old.get(op.old_range()).unwrap_or_default(), new.get(op.new_range()).unwrap_or_default());
            match op {
                DiffOp::Equal { .. } => add(" ", before, &mut shown),
                _ => {
                    add("-", before, &mut shown);
                    add("+", after, &mut shown);
                }
            }
        }
    }
    let more = shown.len().saturating_sub(MOST_LINES);
    shown.truncate(MOST_LINES);
    if more > 0 {
        shown.push(format!("({})", plural_in_thousands(more, "more line")));
    }
    shown
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if text.is_empty() { Vec::new() } else { text.split(|&byte| byte == b'\n').collect() }
}
