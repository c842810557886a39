//! `--replay`: the questions of a conversation, asked again.

use crate::commands::complete;
use lepo_base::error::{Error, Result};

/// The heading of these options in the help.
const REPLAY: &str = "A conversation again";

/// `--replay` and where the new lines begin.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub struct ReplayArgs {
    /// Ask the questions of this conversation again, in order, and keep a new line for each -m
    ///
    /// Everything visible but the answers is copied; each answer is asked for anew, and builds on the new ones. No command
    /// runs by itself: tools are off, and with --tools a request that was recorded after the same question gets the
    /// recorded result, any other is asked about. --system puts the line under a new system prompt.
    #[arg(long, value_name = "ADDR", add = complete::address(), conflicts_with_all = ["prompt", "file", "context", "attach", "run", "template", "server_prompt", "new", "tail", "retry", "compact", "list_tools", "approve", "deny", "schema", "show_past", "events", "output", "parallel", "debate", "recorded", "no_keep", "continue"], help_heading = REPLAY)]
    pub replay: Option<String>,
    /// With --replay: share what stands before this message, and begin there
    #[arg(long, value_name = "ADDR", add = complete::address(), help_heading = REPLAY)]
    pub from: Option<String>,
    /// With --replay: the message that the new line follows; of a replay that was stopped, its end; repeatable, in the order of -m
    #[arg(long, value_name = "ADDR", add = complete::address(), conflicts_with = "system", help_heading = REPLAY)]
    pub onto: Vec<String>,
    /// With --replay: ask for each answer on the recorded past, as another answer beside the recorded one
    #[arg(long, conflicts_with_all = ["onto", "system"], help_heading = REPLAY)]
    pub teacher: bool,
}

impl ReplayArgs {
    /// Refuses options without the one that they belong to.
    pub fn check(&self) -> Result<()> {
        let given =
            [(self.from.is_some(), "--from"), (!self.onto.is_empty(), "--onto"), (self.teacher, "--teacher")];
        match given.into_iter().find(|(is_given, _)| *is_given && self.replay.is_none()) {
            Some((_, option)) => Err(Error::usage(format!("{option} needs --replay")).hint("lepo do --help")),
            None => Ok(()),
        }
    }
}
