//! The directory `.lepo`: opened once, without following a link; all paths are relative to that descriptor.
//!
//! Knows no network, no terminal and no environment. A file is never edited after it was written, and two writers
//! never wait for each other. The format is lepo-store(5).
//!
//! A [`Store`] is the open directory; each of its methods returns a part that borrows it:
//!
//! | part | contents |
//! |---|---|
//! | [`Bubbs`] | a bubb: read, write, delete |
//! | [`Names`] | the names in the store, and their forest |
//! | [`Addresses`] | resolves what the user types to point at bubbs |
//! | [`Blobs`], [`Branches`], [`Titles`], [`Journal`] | files besides bubbs |
//! | [`PendingRequests`] | claims and replays of pending requests |
//! | [`PeerStores`] | other users' stores |
//! | [`TextCache`] | files with which the search caches past days |
//! | [`MetaFiles`] | instructions, `.gitattributes`, `.gitignore` |
//! | [`Maintenance`] | check, repair, tidy |
//!
//! [`WriteBatch`], [`StoreWatch`] and copies are created from a store.

mod address;
mod append;
mod attributes;
mod batch;
mod blob_folders;
mod blobs;
mod branches;
mod check;
mod claim;
mod copies;
mod dir;
mod draft;
mod facts;
mod finding;
mod folders;
mod furniture;
mod handle;
mod hash;
mod ignores;
mod imports;
mod journal;
mod journal_copies;
mod journal_proofs;
mod journal_tail;
mod line_ends;
mod listing;
mod memory;
mod offers;
mod old_tree;
mod open;
#[cfg(test)]
mod oracle;
mod others;
mod place;
mod proof;
mod reach;
mod read;
mod recover;
mod redactions;
mod remove;
mod replaced;
mod requests;
mod rewrite;
mod scan;
mod sessions;
mod sorted;
mod speaker;
mod stage;
mod temporary;
mod text_cache;
mod tidy;
#[cfg(test)]
mod tidy_tests;
mod titles;
mod unkept;
mod unreadable;
mod upkeep;
mod watch;

pub use address::Addresses;
pub use batch::{MANY, WriteBatch};
pub use blobs::{Blob, Blobs, NewBlob, blobs_in, blobs_of_result};
pub use branches::{Branches, check_branch_name};
pub use claim::Claim;
pub use copies::{
    CopyParent, CopyRequest, PlannedCopy, note_copy, plan_copies, plan_copies_of_now, plan_redated_copies,
    write_copies,
};
pub use dir::{OLD, now};
pub use draft::Draft;
pub use facts::JournalIndex;
pub use finding::{Finding, FindingKind};
pub use furniture::MetaFiles;
pub use handle::Store;
pub use imports::{ImportIndex, ImportRecord};
pub use journal::{BubbFacts, Journal, JournalEntry, JournalRecord};
pub use journal_tail::JournalCursor;
pub use offers::AddressCompletion;
pub use open::{InitOutcome, STORE};
pub use others::{LONGEST_CLONE, PeerStores, is_clone_name};
pub use proof::{Prover, Statement};
pub use reach::Names;
pub use read::Bubbs;
pub use recover::StrayOutcome;
pub use redactions::Redactions;
pub use replaced::{
    MovedBubb, ReplacedFiles, Replacement, ReplacementRecord, ids_in, put_ids, with_other_blobs,
};
pub use requests::PendingRequests;
pub use sessions::SessionEnd;
pub use sorted::by_id;
pub use stage::has_ended_batches;
pub use text_cache::{FolderState, MonthCacheWriter, MonthFolder, TextCache};
pub use tidy::TidyPlan;
pub use titles::{Titles, latest_titles};
pub use unkept::ScratchStore;
pub use upkeep::Maintenance;
pub use watch::{StoreWatch, WatchedBubb};
