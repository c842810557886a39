//! Prints the result of a sync, line by line.

use crate::commands::Context;
use crate::term::one_line;
use lepo_store::bubb::counted;
use lepo_store::store::Store;
use lepo_sync::{Round, State};

/// Prints a line for each thing that went or came; how many.
pub fn tell_news(done: &Round, state: &State, context: &mut Context<'_>) -> usize {
    let mut lines = Vec::new();
    if let Some(name) = &done.renamed {
        lines.push(format!("this is a copy of another clone: it is named {name} now"));
    }
    let sent = &done.sent;
    if sent.bubbs + sent.blobs + sent.removed + sent.branches > 0 {
        let mut parts = Vec::new();
        parts.extend((sent.bubbs > 0).then(|| counted(sent.bubbs, "message")));
        parts.extend((sent.blobs > 0).then(|| counted(sent.blobs, "blob")));
        parts.extend((sent.removed > 0).then(|| counted(sent.removed, "removal")));
        parts.extend((sent.branches > 0).then(|| branches(sent.branches)));
        lines.push(match done.is_pushed {
            true => format!("sent {} as {}", parts.join(", "), state.settings.name),
            false => format!("not sent yet: {}", parts.join(", ")),
        });
    } else if done.is_pushed && sent.made.is_none() {
        lines.push(format!("sent what had waited as {}", state.settings.name));
    }
    for (came, mine) in &done.came {
        let from = if *mine { format!("{} (yours)", came.clone) } else { came.clone.clone() };
        if came.bubbs + came.branches > 0 {
            let mut parts = Vec::new();
            parts.extend((came.bubbs > 0).then(|| counted(came.bubbs, "message")));
            parts.extend((came.branches > 0).then(|| branches(came.branches)));
            lines.push(format!("from {from}: {}", parts.join(", ")));
        }
        if came.removed > 0 {
            lines.push(format!("{from} removed {}; they stay here", counted(came.removed, "message")));
        }
        if came.waiting > 0 {
            lines.push(format!(
                "from {from}: {} dated ahead, left for later",
                counted(came.waiting, "message")
            ));
        }
        for left in &came.left_out.first {
            lines.push(format!("from {from}: left out {}", one_line(left)));
        }
        if came.left_out.count > came.left_out.first.len() {
            lines.push(format!(
                "from {from}: left out {} more",
                came.left_out.count - came.left_out.first.len()
            ));
        }
    }
    let changes = &done.changes;
    if !changes.remove.is_empty() {
        lines.push(format!(
            "removed {} that another clone of yours removed",
            counted(changes.remove.len(), "message")
        ));
    }
    for name in &changes.back {
        lines.push(format!("{} was restored: another message follows it", name.id));
    }
    for (branch, id) in &changes.branches {
        lines.push(format!("branch {} is at {id}", branch.replace("%2F", "/")));
    }
    for line in &lines {
        context.out.line(line);
    }
    lines.len()
}

/// The notes that may ask for a decision, a line each: messages that were held back, with how they are sent all the
/// same; clones that could not be fetched; clones that may be the user's own.
pub fn troubles(done: &Round, store: &Store) -> Vec<String> {
    let held = done.sent.held.iter().map(|(id, why)| {
        let hint = match why.starts_with("seems") {
            true => format!("; `lepo sync --allow {id}` sends it"),
            false => String::new(),
        };
        format!("held back {id}: it {why}{hint}")
    });
    let bad = done
        .bad
        .iter()
        .map(|(clone, error)| format!("warning: {clone} could not be fetched: {}", error.chain()));
    let unknown = done.unknown.iter().map(|clone| {
        let shown = store.shown().display();
        format!(
            "{clone} has your git email. Another clone of yours? `lepo sync --mine {clone}` merges it into {shown}"
        )
    });
    held.chain(bad).chain(unknown).collect()
}

fn branches(number: usize) -> String {
    format!("{number} branch{}", if number == 1 { "" } else { "es" })
}
