//! Options of `lepo rebase`.

use std::path::PathBuf;

use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbId;
use lepo_store::store::{Store, check_branch_name};

use crate::commands::complete;

/// Copy messages of a conversation onto another base, or edit them as one text
///
/// Copies the messages that ADDR's conversation has and BASE's does not, so that they follow BASE; with a range A..B,
/// copies exactly these. Copies keep text, kind and time (except with --redate), so repeating a rebase creates
/// nothing new. The originals stay, and no branch moves. Prints the id of the new end. A copy with the time of its
/// original may be `@` or not, which is reported; --tail continues from its id.
///
/// A tool request at the end of a copy is left out, because a copy never waits for consent. Dropping a request drops
/// its result too, and vice versa. No model is asked; use lepo do --replay to ask the questions again.
///
/// With -i, the messages are one text in LEPO_EDITOR, VISUAL, EDITOR or vi. Move, cut, copy and reword them: what is
/// saved becomes a new line of messages. --print prints the text, and --from reads it back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo rebase @ --onto main                 # move this conversation's \
        messages after main\n  \
    lepo rebase @ --drop @~2                  # the same conversation without one message\n  \
    echo 'in one line' | lepo rebase @ --replace @^=-      # with one message replaced\n  \
    lepo rebase @ --system 'Answer in Korean.'\n  lepo rebase main~2..main --root -n\n  lepo rebase @ --root --redate             # a copy with the current time\n  \
    lepo rebase -i                            # the conversation in your editor\n  \
    lepo rebase --print | sed s/colour/color/ | lepo rebase --from -")]
pub struct RebaseArgs {
    /// The last message to copy, or a range of messages
    ///
    /// By default @; with --from, the messages that the first line of the text names.
    #[arg(value_name = "ADDR|A..B", add = complete::address())]
    pub(super) address: Option<String>,
    /// Edit the messages as one text in your editor
    #[arg(short, long, conflicts_with_all = ["print", "from", "drop", "replace", "system", "redate"])]
    pub(super) interactive: bool,
    /// Print that text
    #[arg(long, conflicts_with_all = ["from", "drop", "replace", "system", "redate", "dry_run", "branch", "json"])]
    pub(super) print: bool,
    /// Take the edited text from FILE, or with `-` from stdin
    #[arg(long, value_name = "FILE|-", value_hint = clap::ValueHint::FilePath,
        conflicts_with_all = ["drop", "replace", "system", "redate"])]
    pub(super) from: Option<PathBuf>,
    /// The message that the copies follow
    #[arg(long, value_name = "BASE", add = complete::address(), conflicts_with_all = ["root", "system"])]
    pub(super) onto: Option<String>,
    /// Make the copies a conversation of their own
    #[arg(long, conflicts_with = "system")]
    pub(super) root: bool,
    /// Replace the system prompt: TEXT, @FILE, or - for stdin
    #[arg(long, value_name = "TEXT|@FILE|-")]
    pub(super) system: Option<String>,
    /// Leave out this message or range; repeatable
    #[arg(long, value_name = "ADDR", add = complete::address())]
    pub(super) drop: Vec<String>,
    /// Replace the text of a message; - reads it from stdin; repeatable
    #[arg(long, value_name = "ADDR=FILE|-")]
    pub(super) replace: Vec<String>,
    /// Also copy the thinking and tool calls of the messages
    #[arg(short, long)]
    pub(super) all: bool,
    /// List what would be created, without creating anything
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,
    /// Give the copies the current time, for a conversation that a wrong clock dated ahead
    #[arg(long)]
    pub(super) redate: bool,
    /// Create a branch at the new end; with -n, only check its name
    #[arg(long, value_name = "NAME")]
    pub(super) branch: Option<String>,
    /// Move the branch of --branch if it exists
    #[arg(short, long, requires = "branch")]
    pub(super) force: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

impl RebaseArgs {
    pub fn only_lists(&self) -> bool {
        self.dry_run || self.print
    }

    pub(super) fn address(&self) -> &str {
        self.address.as_deref().unwrap_or("@")
    }

    pub(super) fn has_text(&self) -> bool {
        self.interactive || self.print || self.from.is_some()
    }
    /// Rejects an existing name before anything is written, unless the branch may be moved.
    pub(super) fn check_branch(&self, store: &Store) -> Result<()> {
        let Some(name) = &self.branch else { return Ok(()) };
        check_branch_name(name)?;
        match store.branch(name)?.filter(|_| !self.force) {
            None => Ok(()),
            Some(_) => Err(Error::nothing(format!("branch {name} already exists"))
                .hint("choose another name; -f moves the branch")),
        }
    }

    pub(super) fn make_branch(&self, store: &Store, tail: BubbId) -> Result<()> {
        match (&self.branch, self.force) {
            (Some(branch), true) => store.set_branch(branch, tail),
            (Some(branch), false) => store.make_branch(branch, tail).map(drop),
            (None, _) => Ok(()),
        }
    }
}
