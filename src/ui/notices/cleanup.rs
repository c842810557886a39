//! Texts about what a command or an agent leaves in the working directory.

use crate::term::StatusLine;
use lepo_turn::{AutorunFiles, CleanupItem};

pub fn line(item: &CleanupItem) -> StatusLine {
    match item {
        CleanupItem::RepositoryMoved(maker, path, to) => StatusLine::warning(format!(
            "{maker} made a git repository at {path}, moved aside to {to}: git would run what its settings say"
        )),
        CleanupItem::Repository(maker, path, why) => StatusLine::warning(format!(
            "{maker} made a git repository at {path} that cannot be moved aside ({why}): \
             git would run what its settings say"
        )),
        CleanupItem::OwnersRightsRemoved(path) => StatusLine::warning(format!(
            "{path} ran with its owner's rights (set-user-id or set-group-id): removed"
        )),
        CleanupItem::OwnersRights(path, why) => StatusLine::warning(format!(
            "{path} runs with its owner's rights (set-user-id or set-group-id), which cannot be removed ({why})"
        )),
        CleanupItem::MoreOwnersRights(more) => {
            StatusLine::warning(format!("and {more} other files that ran, or run, with their owner's rights"))
        }
        CleanupItem::WillRun(files) => StatusLine::note(will_run(files)),
        CleanupItem::MoreWillRun(more) => {
            StatusLine::note(format!("and {more} other files that tools run automatically"))
        }
        CleanupItem::Unread(count) => {
            StatusLine::warning(format!("{count} new directories could not be searched"))
        }
    }
}

fn will_run(AutorunFiles { files, named, when }: &AutorunFiles) -> String {
    let names = named.join(", ");
    match (files, files.saturating_sub(named.len())) {
        (1, _) => format!("{names} will run when {when}"),
        (files, 0) => format!("{files} files will run when {when}: {names}"),
        (files, rest) => format!("{files} files will run when {when}: {names} and {rest} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_files_are_named_and_the_others_counted() {
        for (files, named, words) in [
            (1, &[".envrc"][..], "note: .envrc will run when you enter"),
            (2, &["a", "b"], "note: 2 files will run when you enter: a, b"),
            (22, &["a", "b", "c"], "note: 22 files will run when you enter: a, b, c and 19 more"),
        ] {
            let named = named.iter().map(ToString::to_string).collect();
            let item = CleanupItem::WillRun(AutorunFiles { files, named, when: "you enter" });
            assert_eq!(line(&item).to_string(), words);
        }
    }
}
