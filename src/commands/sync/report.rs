//! Prints the result of a sync.

use crate::commands::Context;
use crate::term::{StatusLine, one_line};
use lepo_base::hint::{Hint, HintTarget};
use lepo_store::bubb::plural;
use lepo_store::store::Store;
use lepo_sync::{RestoreReason, SyncRound, SyncState, decoded};

/// Prints a line for each kind of change; returns their number.
pub fn print_news(done: &SyncRound, state: &SyncState, context: &mut Context<'_>) -> usize {
    let mut lines = Vec::new();
    if let Some((old, name)) = &done.renamed {
        lines.push(format!("another clone writes as {old}: this one is now named {name}"));
    }
    let sent = &done.summary;
    if sent.bubbs + sent.blobs + sent.removed + sent.branches > 0 || sent.titles.is_some() {
        let mut parts = Vec::new();
        parts.extend((sent.bubbs > 0).then(|| plural(sent.bubbs, "message")));
        parts.extend((sent.blobs > 0).then(|| plural(sent.blobs, "blob")));
        parts.extend((sent.removed > 0).then(|| plural(sent.removed, "removal")));
        parts.extend((sent.branches > 0).then(|| branches(sent.branches)));
        parts.extend(sent.titles.is_some().then(|| "titles".to_string()));
        lines.push(match done.is_pushed {
            true => format!("sent {} as {}", parts.join(", "), state.settings.name),
            false => format!("not sent yet: {}", parts.join(", ")),
        });
    } else if done.is_pushed && sent.commit.is_none() {
        lines.push(format!("sent waiting messages as {}", state.settings.name));
    }
    for (came, mine) in &done.clones {
        let name = one_line(&came.clone);
        let from = if *mine { format!("{name} (yours)") } else { name };
        if came.bubbs + came.branches > 0 {
            let mut parts = Vec::new();
            parts.extend((came.bubbs > 0).then(|| plural(came.bubbs, "message")));
            parts.extend((came.branches > 0).then(|| branches(came.branches)));
            lines.push(format!("from {from}: {}", parts.join(", ")));
        }
        if came.removed > 0 {
            lines.push(format!("{from} removed {}; they stay here", plural(came.removed, "message")));
        }
        if came.waiting > 0 {
            lines.push(format!(
                "from {from}: {} dated ahead, left for later",
                plural(came.waiting, "message")
            ));
        }
        if came.later > 0 {
            lines.push(format!("from {from}: {} left for the next sync: it took too long", came.later));
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
    for clone in &done.swept {
        lines.push(format!("{clone} is gone from the remote: its messages were deleted from _from/{clone}"));
    }
    let changes = &done.changes;
    if !changes.remove.is_empty() {
        lines.push(format!(
            "removed {} that another clone of yours removed",
            plural(changes.remove.len(), "message")
        ));
    }
    for (name, reason) in &changes.back {
        lines.push(match reason {
            RestoreReason::Branch(branch) => {
                format!("{} was restored: branch {} names it", name.id, branch_name(branch))
            }
            RestoreReason::Followed => format!("{} was restored: another message follows it", name.id),
            RestoreReason::BroughtBack => format!("{} was brought back", name.id),
        });
    }
    for (branch, id) in &changes.branches {
        lines.push(format!("branch {} is at {id}", branch_name(branch)));
    }
    for line in &lines {
        context.out.line(line);
    }
    lines.len()
}

/// Formats the notes that may need a decision: withheld messages with the command that sends them anyway,
/// clones that could not be fetched, and clones that may be the user's own.
pub fn troubles(done: &SyncRound, store: &Store, uses_heads: bool, at: HintTarget<'_>) -> Vec<String> {
    let hint = |line: String| Hint::from(line).render(at);
    let held = done.summary.held_back.iter().map(|(id, why)| {
        let hint = match why.starts_with("seems") {
            true => format!("; `lepo sync --allow {}` sends it", id.rsplit(' ').next().unwrap_or(id)),
            false => String::new(),
        };
        format!("held back {id}: it {why}{hint}")
    });
    let bad = done.bad.iter().map(|(clone, error)| {
        StatusLine::warning(format!("{} could not be fetched: {}", one_line(clone), error.chain()))
            .to_string()
    });
    let shown = one_line(&store.display_path().display().to_string());
    let unknown = done.unknown.iter().map(|clone| {
        format!(
            "{clone} has your git email. Another clone of yours? `lepo sync --mine {clone}` merges it into {shown}"
        )
    });
    let replaced =
        done.replaced.iter().map(|clone| format!("{}; {}", replacement(clone), merge_again(clone)));
    let (here, there) = match uses_heads {
        false => ("refs/lepo/", "branches"),
        true => ("branches", "refs/lepo/"),
    };
    let (to, back) = if uses_heads { ("--no-heads", "--heads") } else { ("--heads", "--no-heads") };
    let elsewhere = (!done.elsewhere.is_empty()).then(|| {
        let verb = if done.elsewhere.len() == 1 { "uses" } else { "use" };
        format!(
            "{} {verb} {there} on this remote, and this clone {here}: neither sees the other. \
             `lepo sync {to}` here, or `lepo sync {back}` there",
            done.elsewhere.join(", ")
        )
    });
    let more = (done.more > 0).then(|| {
        format!(
            "{} on the remote are not looked at; `lepo sync --mine NAME` names one of yours",
            plural(done.more, "more clone")
        )
    });
    let asking = unknown.chain(replaced).chain(elsewhere).chain(more);
    held.map(hint).chain(bad).chain(asking.map(hint)).collect()
}

pub fn replacement(clone: &str) -> String {
    format!("the ref of {clone} was replaced since it was merged, as by `lepo sync --forget` there")
}

fn merge_again(clone: &str) -> String {
    format!("`lepo sync --mine {clone}` merges it again, `--not-mine {clone}` no longer counts it as yours")
}

/// Decodes a branch name from its file name.
fn branch_name(file: &str) -> String {
    one_line(&decoded(file).unwrap_or_else(|| file.to_string()))
}

fn branches(number: usize) -> String {
    format!("{number} branch{}", if number == 1 { "" } else { "es" })
}
