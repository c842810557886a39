//! The options of `lepo rebase`.

use crate::commands::complete;

/// Copy a line of messages onto another base
///
/// Copies, under BASE, the messages of ADDR's conversation that BASE's does not have; of a range A..B exactly these.
/// Copies keep text, kind and time, so the same rebase twice makes nothing new. The originals stay, and no branch moves.
/// The id of the new end is printed.
///
/// A tool request that would end a copy is left out, as a copy never waits for consent. To drop a request drops its
/// result, and the other way round. No model is asked: lepo do --replay asks the questions of a line again.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo rebase @ --onto main                 # go on from main with what was said here\n  \
    lepo rebase @ --drop @~2                  # the same conversation without one message\n  \
    echo 'in one line' | lepo rebase @ --replace @^=-      # and with other words in one\n  \
    lepo rebase @ --system 'Answer in Korean.'\n  lepo rebase main~2..main --root -n"
)]
pub struct RebaseArgs {
    /// The end of the line, or a range of messages
    #[arg(value_name = "ADDR|A..B", default_value = "@", add = complete::address())]
    pub(super) address: String,
    /// The message that the copies follow
    #[arg(long, value_name = "BASE", add = complete::address(), conflicts_with_all = ["root", "system"])]
    pub(super) onto: Option<String>,
    /// Make the copies a conversation of its own
    #[arg(long, conflicts_with = "system")]
    pub(super) root: bool,
    /// Put them under a new system prompt, in the place of the old one: TEXT, @FILE, or - for stdin
    #[arg(long, value_name = "TEXT|@FILE|-")]
    pub(super) system: Option<String>,
    /// Leave out this message, or this range; repeatable
    #[arg(long, value_name = "ADDR", add = complete::address())]
    pub(super) drop: Vec<String>,
    /// Other words in the place of a message; - for stdin; repeatable
    #[arg(long, value_name = "ADDR=FILE|-")]
    pub(super) replace: Vec<String>,
    /// Copy the thinking and tool calls beside the messages too
    #[arg(short, long)]
    pub(super) all: bool,
    /// List what would be made, and make nothing
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,
    /// Make a branch at the new end
    #[arg(long, value_name = "NAME", conflicts_with = "dry_run")]
    pub(super) branch: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

impl RebaseArgs {
    /// Nothing is written.
    pub fn only_lists(&self) -> bool {
        self.dry_run
    }
}
