//! Options of `lepo rm`.

use clap::builder::PossibleValuesParser;

use crate::commands::complete;
use lepo_base::time;

/// Delete the end of a conversation; shared messages stay
///
/// Deletes the message, all messages before it up to one that another conversation needs, the finished tool calls
/// next to them, and the blobs that no message needs any more. A conversation without a fork is deleted completely.
/// Lists the files, one path per line, and asks for confirmation on the terminal.
///
/// Removed messages go to .lepo/_removed, from where `lepo undo` brings them back, and are deleted there after the time of
/// the setting `keep_removed` (default 30d). Until then their text is on the disk: --now deletes at once, and
/// --empty deletes all of it; both also delete the titles of deleted conversations.
///
/// Refuses, with exit code 1, if a visible message follows ADDR or a branch names one of the messages. Messages that
/// conversations of other people (lepo-sync(1)) follow are needed, too; --force deletes them here. With
/// --older-than and --unanswered, conversations that a branch names are kept. If nothing matches, or no address comes
/// on stdin, there is nothing to delete, which is not an error.
///
/// With --redact, no conversation is deleted: secrets in the messages, and in the files that these name, are masked.
/// Because an id is a hash of its message, the messages and all that follow are copied with new ids, and the old
/// files are deleted. Branches, titles, the journal and pending requests move along. Prints the old and new id of
/// each message, and asks for confirmation. An import of the same source does not bring them back. With --all, also
/// masks titles, the journal, prompts and instructions of the store, but not settings or the stores of other people;
/// they are named. If it is interrupted, the next one completes it, after it says what remains to be done and asks;
/// this works only on the machine that began it. Other messages with the same secret, or the same replaced text, are
/// named. Other clones, the git history of the project, an imported log, the history of the prompt and a text that
/// rebase -i kept may still contain the secret, so change it; lepo names those places.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo rm -n @\n  lepo rm @\n  lepo rm -n --older-than 90d\n  \
    lepo rm -y --unanswered\n  lepo ls -n 1 | cut -d' ' -f1 | lepo rm -y -      # the newest one\n  \
    lepo rm @; lepo undo                                   # and back\n  \
    lepo rm -n --redact --all                              # list what would change\n  \
    lepo fsck --secrets; lepo rm --redact @~2 --kind github-token")]
pub struct RmArgs {
    /// The last messages of the conversations to delete; `-` reads addresses from stdin, one per line
    #[arg(value_name = "ADDR", required_unless_present_any = ["older_than", "unanswered", "redact", "empty"], add = complete::address())]
    pub(super) addresses: Vec<String>,
    /// Delete conversations whose newest message is older: 90d, 12w, 6h
    #[arg(long, value_name = "AGE", value_parser = age, conflicts_with = "addresses")]
    pub(super) older_than: Option<u64>,
    /// Delete conversations that end with a question
    #[arg(long, conflicts_with = "addresses")]
    pub(super) unanswered: bool,
    /// Delete the messages at once; `lepo undo` cannot bring them back
    #[arg(long, conflicts_with = "redact")]
    pub(super) now: bool,
    /// Delete what `rm` removed and `lepo undo` could bring back
    #[arg(long, conflicts_with_all = ["addresses", "older_than", "unanswered", "redact", "now"])]
    pub(super) empty: bool,
    /// Mask secrets in the messages instead of deleting
    #[arg(long, conflicts_with_all = ["older_than", "unanswered"])]
    pub(super) redact: bool,
    /// With --redact: mask only this kind of secret, as named by `lepo fsck --secrets`; repeatable
    #[arg(long, value_name = "KIND", requires = "redact", value_parser = PossibleValuesParser::new(lepo_secrets::kinds()), hide_possible_values = true)]
    pub(super) kind: Vec<String>,
    /// With --redact: mask all that `lepo fsck --secrets` finds in the store
    #[arg(long, requires = "redact", conflicts_with = "addresses")]
    pub(super) all: bool,
    /// With --redact: replace the text of a message; repeatable
    #[arg(long, value_name = "ADDR=FILE|-", requires = "redact")]
    pub(super) replace: Vec<String>,
    /// Delete messages that conversations of other people follow, too
    #[arg(long, conflicts_with_all = ["redact", "empty"])]
    pub(super) force: bool,
    /// List what would change, without changing anything
    #[arg(short = 'n', long, conflicts_with = "yes")]
    pub(super) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub(super) yes: bool,
    /// With --redact: print one JSON document
    #[arg(long, requires = "redact")]
    pub json: bool,
}

impl RmArgs {
    pub fn only_lists(&self) -> bool {
        self.dry_run
    }
}

/// Parses an age into milliseconds.
fn age(text: &str) -> std::result::Result<u64, String> {
    time::parse_span(text).ok_or_else(|| "a number and h, d or w: 90d".to_string())
}
