//! Decides whether a question starts a conversation, and whether it is stored.

use std::io::{IsTerminal, stdin, stdout};

use super::DoArgs;
use super::worktree_tail::set_worktree_tail;
use crate::commands::Context;
use lepo_base::error::{Error, Result};
use lepo_turn::config::NewConversation;

/// Rejects `--no-keep` with `--save-to`; otherwise makes it start a conversation.
pub fn check_no_keep(args: &mut DoArgs, context: &Context<'_>) -> Result<()> {
    if args.keeping.no_keep && context.save_to().is_some() {
        return Err(Error::usage("--no-keep cannot be used with --save-to: its store is deleted at the end"));
    }
    args.new |= args.keeping.no_keep;
    Ok(())
}

/// Starts a new conversation if the setting says so and no option overrides it. Otherwise, in a linked
/// worktree, continues the conversation that was last used there.
pub fn apply_new_setting(args: &mut DoArgs, new: NewConversation, context: &Context<'_>) -> Result<()> {
    let is_placed = args.keeping.goes_on || args.retry || args.compact || args.group.mode().is_some();
    let is_placed = is_placed || args.tail.is_some() || args.approve.is_some() || args.deny.is_some();
    let begins = match new {
        NewConversation::Never => false,
        NewConversation::Pipe => !stdin().is_terminal() && !stdout().is_terminal(),
        NewConversation::Always => true,
    };
    args.new |= begins && !is_placed;
    set_worktree_tail(args, context)
}
