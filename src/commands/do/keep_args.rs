//! The options that say where a question goes, and whether anything of it stays.

use std::io::{IsTerminal, stdin, stdout};

use super::DoArgs;
use crate::commands::Context;
use lepo_base::error::{Error, Result};
use lepo_turn::config::NewConversation;

/// The heading of these options in the help.
const PLACE: &str = "The place of the conversation";

/// `--continue` and `--no-keep`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct KeepArgs {
    /// Go on where the conversation is, whatever the setting `new` says
    #[arg(id = "continue", long = "continue", conflicts_with_all = ["new", "parallel", "debate"], help_heading = PLACE)]
    pub(super) goes_on: bool,
    /// Keep nothing: as -n, in a store that is deleted at the end
    ///
    /// A request of the model that would wait for consent is refused.
    #[arg(long, conflicts_with_all = ["tail", "retry", "continue", "approve", "deny", "compact", "list_tools"], help_heading = PLACE)]
    pub(super) no_keep: bool,
    /// Send folders that fill more than half of the model's window without asking
    #[arg(long, help_heading = "The question")]
    pub(super) yes: bool,
}

impl DoArgs {
    /// Refuses `--no-keep` together with a store by name, and lets it begin a conversation.
    pub fn check_keeping(&mut self, context: &Context<'_>) -> Result<()> {
        if self.keeping.no_keep && context.save_to().is_some() {
            return Err(Error::usage(
                "--no-keep cannot be used with --save-to: its store is deleted at the end",
            ));
        }
        self.new |= self.keeping.no_keep;
        Ok(())
    }

    /// Begins a new conversation if the setting says so, and no option says otherwise.
    pub fn begin_as_set(&mut self, new: NewConversation) {
        let is_placed = self.keeping.goes_on || self.retry || self.compact || self.group.mode().is_some();
        let is_placed = is_placed || self.tail.is_some() || self.approve.is_some() || self.deny.is_some();
        let begins = match new {
            NewConversation::Never => false,
            NewConversation::Pipe => !stdin().is_terminal() && !stdout().is_terminal(),
            NewConversation::Always => true,
        };
        self.new |= begins && !is_placed;
    }
}
