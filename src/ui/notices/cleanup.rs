//! Texts about what a command or an agent leaves in the working directory.

use super::table::{COMMANDS, ManualNotice, name_values, notices};
use crate::term::StatusLine;
use lepo_base::hint::HintTarget;
use lepo_turn::{AutorunFiles, CleanupItem};

notices! { CleanupItem, _at;
    CleanupItem::RepositoryMoved(maker, path, target) =>
        warning "{maker} made a git repository at {path}, moved aside to {target}: git would run what its settings say"
        as "the command made a git repository at {path}, moved aside to {path}.aside: git would run what its settings say",
        COMMANDS: "Only a command with access `full` makes a repository that stays in place.";
    CleanupItem::Repository(maker, path, reason) =>
        warning "{maker} made a git repository at {path} that cannot be moved aside ({reason}): git would run what its settings say";
    CleanupItem::OwnersRightsRemoved(file) =>
        warning "{file} ran with its owner's rights (set-user-id or set-group-id): removed",
        COMMANDS: "Whoever started such a program would have had the rights of its owner.";
    CleanupItem::OwnersRights(file, reason) =>
        warning "{file} runs with its owner's rights (set-user-id or set-group-id), which cannot be removed ({reason})";
    CleanupItem::MoreOwnersRights(more) =>
        warning "and {more} other files that ran, or run, with their owner's rights";
    CleanupItem::WillRun(files), sentence = will_run(files) => note "{sentence}"
        as "{file} will run when you run make",
        COMMANDS: "They were written in a sandbox and run outside of it: read them first.";
    CleanupItem::MoreWillRun(more) => note "and {more} other files that tools run automatically";
    CleanupItem::Unread(count) => warning "{count} new directories could not be searched";
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
            let lines = lines(&item, HintTarget::SHELL);
            assert_eq!(lines.iter().map(ToString::to_string).collect::<Vec<_>>(), [words]);
        }
    }
}
