//! Options of `lepo sync`.

/// Sync this store between machines and people with git
///
/// REMOTE is needed the first time: a URL, a path, or the name of a git remote of this repository. If there is no
/// store yet, one is created. Everyone who can read REMOTE can read every message. From then on, `lepo sync` sends
/// new messages and fetches those of others.
///
/// Messages of your own other clones become part of this store: name them with --mine, or confirm on the terminal
/// when lepo asks about a clone with your git email. Messages of other people are kept in `.lepo/_from/NAME/` and
/// shown next to yours.
///
/// Text that looks like a secret, and messages whose content does not match their id, are held back and named. A
/// clone that cannot be fetched is named, too, and the others are fetched. After either, the exit code is 1. Messages
/// removed by your other clones are removed here too; if they are at least 50, and half of all, lepo asks, or needs
/// --yes. A clone counts as yours only on this remote.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo sync git@host:me/history.git\n  lepo sync\n  lepo sync --watch 30\n  \
    lepo sync --status\n  lepo sync --mine desktop"
)]
pub struct SyncArgs {
    /// The remote: a URL, a path, or the name of a git remote; needed the first time
    #[arg(value_name = "REMOTE")]
    pub(super) remote: Option<String>,
    /// Do not ask: accept REMOTE, and the removal of half of the messages or more, here or from other clones
    #[arg(short, long)]
    pub(super) yes: bool,
    /// The name of this clone on the remote (default: the host's name)
    #[arg(long = "as", value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Store refs as branches, refs/heads/lepo/NAME, for hosts that refuse other refs
    #[arg(long)]
    pub(super) heads: bool,
    /// Undo --heads
    #[arg(long, conflicts_with = "heads")]
    pub(super) no_heads: bool,
    /// Merge the messages of NAME, another clone of yours, into this store; repeatable
    #[arg(long, value_name = "NAME")]
    pub(super) mine: Vec<String>,
    /// Undo --mine: treat what NAME sends from now on as another person's; repeatable
    #[arg(long, value_name = "NAME")]
    pub(super) not_mine: Vec<String>,
    /// Send this message or blob even though it looks like a secret; repeatable
    #[arg(long, value_name = "ID")]
    pub(super) allow: Vec<String>,
    /// Sync every SECONDS until interrupted
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) watch: Option<u64>,
    /// Print the remote and the number of unsent messages, without sending anything
    #[arg(long, conflicts_with_all = ["remote", "watch", "forget"])]
    pub(super) status: bool,
    /// Replace the history on the remote with the current state of the store
    #[arg(long, conflicts_with_all = ["remote", "watch"])]
    pub(super) forget: bool,
}
