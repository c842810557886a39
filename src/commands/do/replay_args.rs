//! `--replay`: asks the questions of a conversation again.

use crate::commands::complete;
use lepo_base::error::{Error, Result};

/// Heading of these options in the help.
const REPLAY: &str = "Replay";

/// `--replay` and where the new lines begin.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub struct ReplayArgs {
    /// Ask the questions of a conversation again, in order, in a new conversation for each -m
    ///
    /// Copies every visible message except the answers; each answer is asked for again and builds on the new ones. No
    /// command runs automatically: tools are off, and with --tools a request that was recorded after the same
    /// question gets the recorded result, while any other needs consent. --system sets a new system prompt.
    #[arg(long, value_name = "ADDR", add = complete::address(), conflicts_with_all = ["prompt", "file", "context", "attach", "run", "template", "server_prompt", "new", "tail", "retry", "compact", "list_tools", "approve", "deny", "schema", "show_past", "events", "output", "parallel", "debate", "recorded", "no_keep", "continue"], help_heading = REPLAY)]
    pub replay: Option<String>,
    /// With --replay: start at this message, and share everything before it
    #[arg(long, value_name = "ADDR", add = complete::address(), help_heading = REPLAY)]
    pub from: Option<String>,
    /// With --replay: the message to continue from, like the end of a stopped replay; repeatable, in the order of -m
    #[arg(long, value_name = "ADDR", add = complete::address(), conflicts_with = "system", help_heading = REPLAY)]
    pub onto: Vec<String>,
    /// With --replay: ask for each answer after the recorded history, and keep it beside the recorded answer
    #[arg(long, conflicts_with_all = ["onto", "system"], help_heading = REPLAY)]
    pub teacher: bool,
}

impl ReplayArgs {
    pub fn check(&self) -> Result<()> {
        let given =
            [(self.from.is_some(), "--from"), (!self.onto.is_empty(), "--onto"), (self.teacher, "--teacher")];
        match given.into_iter().find(|(is_given, _)| *is_given && self.replay.is_none()) {
            Some((_, option)) => Err(Error::usage(format!("{option} needs --replay")).hint("lepo do --help")),
            None => Ok(()),
        }
    }
}
