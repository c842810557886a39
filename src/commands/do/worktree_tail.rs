//! Decides where a question in a linked git worktree continues by default: the conversation last used there.

use super::DoArgs;
use crate::commands::Context;
use crate::term::{Line, say};
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_store::conv::Wanted;
use lepo_store::store::Store;
use lepo_turn::WorktreeRecord;
use lepo_turn::config::Paths;

/// Selects that conversation as `--tail` would, or starts a new one and says so: all worktrees share a store,
/// whose newest conversation may belong to another one.
pub fn set_worktree_tail(args: &mut DoArgs, context: &Context<'_>) -> Result<()> {
    if !args.takes_default_tail() || args.recorded.wish()?.is_some() {
        return Ok(());
    }
    let Some(store) = context.find_store()?.filter(Store::is_linked) else { return Ok(()) };
    let paths = Paths::from_env(&Env::from_process())?;
    let Some(record) = WorktreeRecord::find(&paths, &store) else { return Ok(()) };
    args.tail = record.tail(&store, args.retry)?.map(|id| id.to_string());
    let begins = args.tail.is_none() && !args.retry && !args.compact && !args.keeping.goes_on;
    if begins && store.names().forest_for(&[Wanted::Tip])?.newest().is_some() {
        args.new = true;
        if !args.quiet {
            say(&Line::note(
                "this worktree begins a conversation of its own; --tail @ goes on with the newest",
            ));
        }
    }
    Ok(())
}
