//! Options for where a question continues, and whether it is stored.

/// Heading of these options in the help.
const PLACE: &str = "Conversation";

/// `--continue` and `--no-keep`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct KeepArgs {
    /// Continue the newest conversation, overriding the setting `new`
    ///
    /// Without a question, where the conversation ends in a stopped answer, its rest is asked for.
    #[arg(id = "continue", long = "continue", conflicts_with_all = ["new", "parallel", "debate"], help_heading = PLACE)]
    pub(super) goes_on: bool,
    /// Keep nothing: like -n, in a store that is deleted at the end
    ///
    /// A request that would have to wait for consent is refused.
    #[arg(long, conflicts_with_all = ["tail", "retry", "continue", "approve", "deny", "compact", "list_tools"], help_heading = PLACE)]
    pub(super) no_keep: bool,
    /// Send the secrets in files, output and pages that come with the question; otherwise they are sent masked
    #[arg(long, help_heading = "Question")]
    pub(super) unmasked: bool,
    /// Send files without asking: folders that fill more than half of the model's window, or over 50,000 tokens where
    /// the window is unknown
    #[arg(long, help_heading = "Question")]
    pub(super) yes: bool,
}
