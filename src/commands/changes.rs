//! Describes changes that `lepo undo` takes back, and deletes old removed messages.

use super::Context;
use crate::commands::user_env::own_settings;
use crate::term::{excerpt, one_line};
use crate::ui::lock_changes;
use lepo_base::error::Result;
use lepo_base::hint::Hint;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, plural};
use lepo_store::store::{BranchChange, BranchIds, Change, ChangingCommand, ListedChange, Store, now};
use lepo_turn::config::RemovedSpan;

/// Reads how long removed messages stay from the user's own file; the default if that has an error.
pub fn removed_span() -> RemovedSpan {
    own_settings().map(|settings| settings.keep_removed).unwrap_or_default()
}

/// Deletes removed messages that are older than the setting says; a folder dated ahead stays.
pub fn empty_old(store: &Store) -> Result<()> {
    let (list, now) = (store.change_list(), now());
    // Most stores have none: their settings need not be read.
    if !list.has_folders_before(now) {
        return Ok(());
    }
    let before = removed_span().millis().map_or(now, |millis| now.saturating_sub(millis));
    if !list.has_folders_before(before) {
        return Ok(());
    }
    let Some(lock) = lock_changes(store)? else { return Ok(()) };
    for (folder, _) in list.folders_before(lock.log(), before)? {
        lock.empty(&folder)?;
    }
    Ok(())
}

/// More branches than this are only counted.
const MOST_BRANCHES: usize = 4;

/// Describes a change on one line.
pub fn describe(store: &Store, listed: &ListedChange<'_>) -> String {
    let change = listed.first;
    let mut parts = Vec::new();
    let sum = |count: fn(&Change) -> usize| listed.steps.iter().map(|step| count(step)).sum::<usize>();
    let verb = |verb| if change.command == ChangingCommand::Rm { "" } else { verb };
    for (count, one, verb) in [
        (sum(|step| step.removed.bubbs.len()), "message", verb(" removed")),
        (sum(|step| step.removed.blobs.len()), "blob", ""),
        (sum(|step| step.added.bubbs.len()), "message", verb(" added")),
    ] {
        if count > 0 {
            parts.push(format!("{}{verb}", plural(count, one)));
        }
    }
    let branches: Vec<&BranchChange> = listed.steps.iter().flat_map(|step| &step.branches).collect();
    match branches.len() {
        0..=MOST_BRANCHES => parts.extend(describe_branches(change.command, &branches)),
        count => parts.push(format!("{count} branches")),
    }
    for title in &change.titles {
        parts.push(match (title.before.as_str(), title.after.as_str()) {
            ("", after) => format!("`{after}`"),
            (before, "") => format!("`{before}` removed"),
            (before, after) => format!("`{after}`, before `{before}`"),
        });
    }
    let mut text = parts.join(", ");
    if let Some(question) = question_in(store, listed) {
        text.push_str(&format!(" of `{question}`"));
    }
    one_line(&text)
}

fn describe_branches(command: ChangingCommand, branches: &[&BranchChange]) -> Vec<String> {
    let branch = if command == ChangingCommand::Branch { "" } else { "branch " };
    if let [new, old] = branches
        && old.after.is_none()
        && new.after == old.before
    {
        return vec![format!("{branch}{} renamed to {}", old.name.as_str(), new.name.as_str())];
    }
    let show = |ids: &BranchIds| ids.iter().flatten().map(BubbId::to_string).collect::<Vec<_>>().join(" ");
    let describe = |moved: &&BranchChange| {
        let name = moved.name.as_str();
        match (&moved.before, &moved.after) {
            (None, after) => format!("{branch}{name} made at {}", show(after)),
            (before, None) => format!("{branch}{name} deleted at {}", show(before)),
            (before, after) => format!("{branch}{name} moved from {} to {}", show(before), show(after)),
        }
    };
    branches.iter().map(describe).collect()
}

/// Returns the beginning of the newest question among the messages of a change.
fn question_in(store: &Store, listed: &ListedChange<'_>) -> Option<String> {
    let change = listed.first;
    let bubbs = change.removed.bubbs.iter().chain(&change.added.bubbs);
    let asked = bubbs.filter(|name| name.role == Role::User && !name.hidden).max_by_key(|name| name.id)?;
    let text = match store.read_bubb(asked) {
        Ok(text) => text,
        Err(_) => {
            let folder = listed.last.folder.or(change.folder)?;
            store.change_list().removed_text(&folder, asked)?
        }
    };
    Some(excerpt(&String::from_utf8_lossy(&text)))
}

/// Reports how what was removed comes back, and what helps if the disk is nearly full.
pub fn print_way_back(store: &Store, context: &Context<'_>) {
    let span = removed_span().description();
    context.print_hint(Hint::from(format!("`lepo undo` brings it back for {span}")));
    if is_nearly_full(store) {
        context.print_hint(Hint::from(
            "the disk is nearly full: `lepo rm --empty` frees the space, `lepo rm --now` removes at once"
                .to_string(),
        ));
    }
}

/// Formats why messages are not deleted: `1 message stays, because …`; `why` gets the pronoun for them.
pub fn staying_line(messages: &str, count: usize, why: impl Fn(&str) -> String) -> String {
    let (stay, them) = if count == 1 { ("stays", "it") } else { ("stay", "them") };
    format!("{messages} {stay}, because {}", why(them))
}

/// Whether less than 2 % of the file system, or 64 MiB, are free.
fn is_nearly_full(store: &Store) -> bool {
    const LEAST: u64 = 64 << 20;
    let Ok(disk) = rustix::fs::statvfs(store.path()) else { return false };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    free < LEAST || disk.f_bavail < disk.f_blocks / 50
}
