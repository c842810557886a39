//! `lepo init`: creates the store.

use super::Context;
use crate::term::{StatusLine, print_status};
use lepo_base::error::Result;
use lepo_store::store::InitOutcome;

/// Create the store `.lepo` in the current directory
///
/// The store holds `_insts.toml`, the instructions for models, and `.gitignore`, which keeps the store out of version
/// control until you delete its line `*`. Running it again changes nothing.
///
/// In a linked git worktree, which otherwise uses the store of the main worktree, the new store belongs to the
/// worktree, and is removed with it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo init\n  lepo -s notes init\n  lepo init --committed && git add .lepo"
)]
pub struct InitArgs {
    /// Let git have the messages and the journal, which recorded answers are looked up in
    #[arg(long)]
    committed: bool,
}

pub fn run_init(args: InitArgs, context: &mut Context<'_>) -> Result<u8> {
    let above = context.find_store()?.filter(|store| store.is_linked() || store.root() != context.cwd());
    let (store, made) = context.make_store()?;
    let shown = store.display_path().display();
    let is_committed = args.committed && store.track_messages()?;
    match made {
        InitOutcome::New => print_status(&format!("made {shown}")),
        InitOutcome::Completed => print_status(&format!("{shown} already exists; added missing files")),
        InitOutcome::Nothing if is_committed => {}
        InitOutcome::Nothing => print_status(&format!("{shown} already exists: nothing changed")),
    }
    if is_committed {
        print_status(&StatusLine::note(format!(
            "from now on, git sees its messages and its journal; `lepo fsck --secrets && git add {shown}` commits them"
        )));
        context.print_hint(format!(
            "each answer changes the journal, so that git pulls after a commit only; without recorded answers, leave it \
             out: `echo /_journal.ndjson >> {shown}/.gitignore`"
        ));
    }
    if let (InitOutcome::New, Some(above)) = (made, above) {
        let which = if above.is_linked() { "of the main worktree" } else { "above" };
        print_status(&StatusLine::note(format!(
            "from now on it is used instead of the store {} {which}",
            above.display_path().display()
        )));
    }
    if made == InitOutcome::New && context.save_to().is_none() && context.main_worktree().is_some() {
        print_status(&StatusLine::note(
            "it belongs to this worktree: `git worktree remove` deletes its conversations",
        ));
    }
    if made == InitOutcome::New && context.is_at_home() {
        print_status(&StatusLine::warning(
            "this is your home directory: every directory below it without a store uses this one",
        ));
        print_status(
            "hint: commands of a model cannot see hidden files (.*) here, and lepo asks before each",
        );
    }
    Ok(0)
}
