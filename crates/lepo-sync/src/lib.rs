//! Syncs a store between clones with git.
//!
//! Each store has a bare repository outside of it, in lepo's data directory. Each clone writes a single ref of its
//! own there and on the remote; its tree contains the clone's bubbs by day, blobs, branches, and a record of
//! removals. Content of other clones is verified before it is added to a store: nothing is ever checked out.

mod cat_file;
mod compare;
mod fast_import;
mod git;
mod git_process;
mod incoming;
mod merge;
mod outgoing;
mod paths;
mod push;
mod refs;
mod remote;
mod removal_consent;
mod removal_counts;
mod replace;
mod round;
mod secrets;
mod settings;
mod state;
mod sweep;
mod sync_record;
mod titles;
mod tree;
mod verdicts;

pub use git::{Git, email, is_committed, remote_url};
pub use incoming::forget_taken;
pub use merge::RestoreReason;
pub use paths::decoded;
pub use push::forget;
pub use refs::{Namespace, check_clone_name, check_url, default_clone_name, free_clone_name};
pub use remote::{RefFilter, RemoteRefs};
pub use removal_consent::RemovalConsent;
pub use round::{SyncOptions, SyncRound, round, unsent};
pub use secrets::PushSecrets;
pub use state::{Identity, SyncState};
pub use sweep::unfetched;

#[cfg(test)]
#[path = "../../lepo-store/src/conv/fixture.rs"]
mod fixture;
