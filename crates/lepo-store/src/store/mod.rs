//! The directory `.lepo`: opened once, without following a link; all paths are relative to that descriptor.
//!
//! Knows no network, no terminal and no environment. A file is never edited after it was written, and two writers
//! never wait for each other. The format is lepo-store(5).
//!
//! A [`Store`] is the open directory. Its methods are in the files of their subjects:
//!
//! | file | methods |
//! |---|---|
//! | `conversations` | the methods with a promise, for other programs |
//! | `open`, `scratch`, `handle` | find, open and make a store |
//! | `read`, `draft`, `remove`, `bubb_path`, `participant` | a bubb: read, write, delete, find its file, who spoke |
//! | `names`, `sort_names`, `newest_names`, `day_folders` | the names in the store, and their forest |
//! | `address`, `completion` | resolve and complete addresses |
//! | `blobs`, `blob_folders`, `branches`, `titles` | files besides bubbs |
//! | `requests`, `claim` | claims and replays of pending requests |
//! | `peers` | other users' stores |
//! | `text_cache` | files with which the search caches past days |
//! | `meta_files`, `attributes`, `ignores` | instructions, `.gitattributes`, `.gitignore` |
//! | `check`, `recover`, `tidy`, `line_ends` | check, repair, tidy |
//!
//! The [`Journal`], [`WriteBatch`], [`StoreWatch`], changes and copies are types of their own, as they have a state or
//! a lock.

mod address;
mod append;
mod attributes;
mod batch;
mod blob_folders;
mod blobs;
mod branches;
mod bubb_path;
mod cached_state;
mod check;
mod claim;
mod completion;
mod conversations;
mod copies;
mod day_folders;
mod dir;
mod draft;
mod finding;
mod handle;
mod hash;
mod ignores;
mod import_choices;
mod imports;
mod journal;
mod journal_copies;
mod journal_cursor;
mod journal_exchange;
mod journal_index;
mod journal_proofs;
mod journal_record;
mod line_ends;
mod listing;
#[cfg(test)]
mod listing_tests;
mod meta_files;
mod names;
mod newest_names;
mod open;
#[cfg(test)]
mod oracle;
mod participant;
mod peers;
mod proof;
mod read;
mod recover;
mod remove;
mod replacement;
mod requests;
mod rewrite;
mod scratch;
mod sessions;
mod sort_names;
mod stage;
mod temporary;
mod text_cache;
mod tidy;
#[cfg(test)]
mod tidy_tests;
mod titles;
mod undo;
mod unreadable_folders;
mod walk;
mod watch;

pub use batch::{MANY, WriteBatch};
pub use blobs::{Blob, NewBlob, blobs_in, blobs_of_result};
pub use branches::check_branch_name;
pub use claim::Claim;
pub use completion::AddressCompletion;
pub use conversations::{AppendedMessage, StoreError, StoredConversation, StoredMessage, Tail};
pub use copies::{
    CopyParent, CopyRequest, EditedCopy, PlannedCopy, note_copy, note_edit, plan_copies, plan_copies_of_now,
    plan_edited_copies, plan_redated_copies, write_copies,
};
pub use dir::{OLD, now};
pub use draft::Draft;
pub use finding::{Finding, FindingKind};
pub use handle::{OwnNewest, Store};
pub use import_choices::{ImportChoices, Redactions, first_of};
pub use imports::{ImportIndex, ImportRecord};
pub use journal::Journal;
pub use journal_cursor::JournalCursor;
pub use journal_exchange::MadeItem;
pub use journal_index::JournalIndex;
pub use journal_record::JournalRecord;
pub use open::{InitOutcome, STORE};
pub use peers::{LONGEST_CLONE, is_clone_name};
pub use proof::{Prover, Statement};
pub use recover::StrayOutcome;
pub use replacement::{
    MovedBubb, ReplacedFiles, Replacement, ReplacementRecord, ids_in, put_ids, with_other_blobs,
};
pub use scratch::ScratchStore;
pub use sessions::SessionEnd;
pub use sort_names::by_id;
pub use stage::has_ended_batches;
pub use text_cache::{FolderState, MonthCacheWriter, MonthFolder};
pub use tidy::TidyPlan;
pub use titles::{latest_titles, on_one_line};
pub use undo::{
    BranchChange, BranchIds, BranchName, Change, ChangeDirection, ChangeList, ChangeLock, ChangeLog,
    ChangedFiles, ChangingCommand, ListedChange, OpenChange, RemovedFolder, TakeBackPlan, TitleChange,
};
pub use watch::{StoreWatch, WatchedBubb};
