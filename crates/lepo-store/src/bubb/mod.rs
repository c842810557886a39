//! A bubb as a value: its id, its kind, its file name. No I/O, no clock.

mod attachment;
mod day;
mod id;
mod kind;
mod name;
mod shown;

pub use attachment::{Attachment, clean_name, is_hash, labelled, split_attachments, with_attachments, words};
pub use day::Day;
pub use id::{BubbId, ContentHash, MAX_TIME};
pub use kind::Kind;
pub use name::Name;
pub use shown::{counted, counted_in_thousands, shown_model, thousands};
