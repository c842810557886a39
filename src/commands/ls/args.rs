//! The arguments of `lepo ls`.

use super::row::RowFormat;
use crate::commands::complete;
use lepo_store::conv::{ReadScope, TailScope};
use lepo_store::store::Store;

/// List the conversations, newest first
///
/// A line has the id, the length (number of messages), and the first and last 12 characters of the last question. On a
/// terminal, a line has the end of the id and the number of questions instead, and `@` is listed even
/// if another user or worktree continued it.
///
/// On a terminal and with `-l`, lines also have the time, the model, the tokens, the branches that name the
/// conversation's end, the title, and the first and last question, as far as they fit. If several conversations
/// answer the same question, the answer follows, with the model's name if several models were asked at once. If
/// prices are configured, `-l` on a terminal adds the cost of the answers, with `+` if the cost of some is unknown;
/// copied answers cost nothing. A conversation whose end is dated more than a day ahead is marked `dated ahead`: it is not
/// `@`.
///
/// With `--pending` on a terminal, a line has the full id, the time, the access with the sandbox, and the request; one
/// that does not fit is below, in full.
///
/// With ADDR, lists only conversations that contain one of these messages.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo ls | head -3 | cut -d' ' -f1\n  lepo ls -n 1 --paths\n  lepo ls --grep README\n  \
    lepo ls -l | awk '{ print $3, $4 }'\n  grep -rl --include='0*.md' panic .lepo | lepo ls -\n  lepo ls --pending\n  lepo ls --everywhere -n 3"
)]
pub struct LsArgs {
    /// List only conversations that contain one of these messages; `-` reads addresses from stdin
    #[arg(value_name = "ADDR", add = complete::address())]
    pub(super) addresses: Vec<String>,
    /// List only the N newest; with --everywhere, the N newest of each store
    #[arg(short, value_name = "N")]
    pub(super) n: Option<usize>,
    /// Print long lines in a pipe too: ID (LENGTH) TIME MODEL TOKENS[/WINDOW] [BRANCHES] TITLE · FIRST · LAST; `-` for none
    #[arg(short, long, conflicts_with_all = ["pending", "paths", "json"])]
    long: bool,
    /// List the ends of finished tool calls too
    #[arg(long, alias = "all")]
    pub(super) spent: bool,
    /// List only conversations with a visible message that matches this regular expression
    #[arg(long, value_name = "PATTERN", conflicts_with = "pending")]
    pub(super) grep: Option<String>,
    /// List the requests that are waiting for consent instead, with their full text, access and sandbox
    #[arg(long, conflicts_with = "spent")]
    pub(super) pending: bool,
    /// List the conversations of all stores that your lepo has written to; each row begins with the project's path
    #[arg(long, conflicts_with_all = ["addresses", "pending"])]
    pub(super) everywhere: bool,
    /// Print the paths of the files instead
    #[arg(long, conflicts_with = "json")]
    pub(super) paths: bool,
    /// Print one JSON document: {"tails": [...]} or {"pending": [...]}
    #[arg(long)]
    pub json: bool,
}

impl LsArgs {
    /// Whether only its age decides if a tail is listed.
    fn is_of_newest(&self) -> bool {
        self.addresses.is_empty() && !self.pending && self.grep.is_none()
    }

    pub(super) fn read_scope(&self, store: &Store, form: RowFormat) -> ReadScope {
        // Pending requests are only the user's own; all other lists also contain other users' conversations.
        match self.n {
            _ if !self.pending && !store.peers().is_empty() => ReadScope::All { peers: true },
            Some(count) if self.is_of_newest() => {
                let (spent, siblings) = (self.spent, form.has_facts());
                ReadScope::Tails(TailScope {
                    count,
                    include_spent: spent,
                    siblings,
                    tip: !spent && !siblings,
                    within: None,
                })
            }
            _ => ReadScope::All { peers: false },
        }
    }

    /// Returns the form of the rows; `columns` is set on a terminal.
    pub(super) fn form(&self, columns: Option<usize>) -> RowFormat {
        match (self.paths, self.json, self.long, columns) {
            (true, ..) => RowFormat::Paths,
            (_, true, ..) => RowFormat::Json,
            (.., true, columns) => RowFormat::Long(columns),
            (.., Some(columns)) if self.pending => RowFormat::Requests(columns),
            (.., Some(columns)) => RowFormat::Columns(columns),
            _ => RowFormat::Pipe,
        }
    }

    pub(super) fn none_there(&self) -> &'static str {
        if self.pending {
            "nothing is waiting for approval"
        } else if self.grep.is_some() {
            "no conversation has a message that matches"
        } else if self.addresses.is_empty() {
            "no conversations yet; ask something: lepo do QUESTION"
        } else {
            "no conversation contains these messages"
        }
    }
}
