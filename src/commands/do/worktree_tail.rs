//! Where a question goes in a linked git worktree, if nothing says so: on with the conversation last used there.

use super::DoArgs;
use crate::commands::Context;
use crate::term::{Line, say};
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_store::conv::Wanted;
use lepo_store::store::Store;
use lepo_turn::WorktreeRecord;
use lepo_turn::config::Paths;

/// Names the conversation as `--tail` would, or begins one and says so. All worktrees share a store, whose newest
/// conversation may be about another one.
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
