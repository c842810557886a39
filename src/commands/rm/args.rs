//! The options of `lepo rm`.

use clap::builder::PossibleValuesParser;

use crate::commands::complete;
use lepo_base::when;

/// Delete the end of a conversation; shared messages stay
///
/// Deletes the message, all above it up to the first that another conversation needs, the finished
/// tool calls beside them, and the blobs that no message names any more. A conversation without a fork
/// is deleted whole. The files are listed, one path a line, and lepo asks first, on the terminal.
///
/// Refuses, with exit 1, if a visible message follows ADDR, or if a branch names one of the messages.
/// With --older-than and --unanswered, conversations that a branch names are kept. If nothing fits, or no address
/// comes on stdin, there is nothing to delete, which is no failure.
///
/// With --redact no conversation is deleted: secrets in the messages become masks, in the files that these name too. An id
/// is a hash of its message, so the messages and all that follow them are copied with new ids, and the old files are
/// deleted. Branches, titles, the journal and requests that wait move along. A line each is printed, the old id and the new
/// one, and lepo asks first. With --all, titles, the journal, prompts and instructions in the store get masks, too; settings
/// and the stores of other people do not, which is said. Interrupted, the same command completes it. What other clones, the
/// git history of the project and a log that was imported may still hold is said: change the secret itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo rm -n @\n  lepo rm @\n  lepo rm -n --older-than 90d\n  \
    lepo rm -y --unanswered\n  lepo ls -n 1 | cut -d' ' -f1 | lepo rm -y -      # the newest one\n  \
    lepo rm -n --redact --all                              # lists what would change\n  \
    lepo fsck --secrets; lepo rm --redact @~2 --kind github-token")]
pub struct RmArgs {
    /// The last messages of the conversations to delete; `-` for addresses on stdin, one a line
    #[arg(value_name = "ADDR", required_unless_present_any = ["older_than", "unanswered", "redact"], add = complete::address())]
    pub(super) addresses: Vec<String>,
    /// Delete conversations whose newest message is older: 90d, 12w, 6h
    #[arg(long, value_name = "AGE", value_parser = age, conflicts_with = "addresses")]
    pub(super) older_than: Option<u64>,
    /// Delete conversations that end with a question
    #[arg(long, conflicts_with = "addresses")]
    pub(super) unanswered: bool,
    /// Take secrets out of the messages instead
    #[arg(long, conflicts_with_all = ["older_than", "unanswered"])]
    pub(super) redact: bool,
    /// Of secrets, only this kind, as `lepo fsck --secrets` names it; repeatable
    #[arg(long, value_name = "KIND", requires = "redact", value_parser = PossibleValuesParser::new(lepo_secrets::kinds()), hide_possible_values = true)]
    pub(super) kind: Vec<String>,
    /// Wherever in the store `lepo fsck --secrets` finds one
    #[arg(long, requires = "redact", conflicts_with = "addresses")]
    pub(super) all: bool,
    /// Other words in the place of a message; repeatable
    #[arg(long, value_name = "ADDR=FILE|-", requires = "redact")]
    pub(super) replace: Vec<String>,
    /// List what would change, and change nothing
    #[arg(short = 'n', long, conflicts_with = "yes")]
    pub(super) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(super) yes: bool,
    /// With --redact: print one JSON document
    #[arg(long, requires = "redact")]
    pub json: bool,
}

impl RmArgs {
    /// Nothing is deleted.
    pub fn only_lists(&self) -> bool {
        self.dry_run
    }
}

/// An age in milliseconds.
fn age(text: &str) -> std::result::Result<u64, String> {
    when::parse_span(text).ok_or_else(|| "a number and h, d or w: 90d".to_string())
}
