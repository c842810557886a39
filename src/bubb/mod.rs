//! A bubb as a value: its id, its kind, its file name. No I/O, no clock.

mod attachment;
mod day;
mod hex;
mod id;
mod kind;
mod media;
mod name;
mod shown;

pub use attachment::{Attachment, clean_name, is_hash, labelled, split_attachments, with_attachments, words};
pub use day::Day;
pub use hex::{hex, sha256_hex};
pub use id::{BubbId, ContentHash, MAX_TIME};
pub use kind::Kind;
pub use media::{MAGIC, Media};
pub use name::Name;
pub use shown::{counted, counted_in_thousands, shown_model, thousands};
