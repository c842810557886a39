//! The options that say where a question goes, and whether anything of it stays.

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
