//! A bubb as a value: its id, its kind, its file name. No I/O, no clock.

mod attachment;
mod content_hash;
mod day;
mod id;
mod json;
mod model_label;
mod name;

pub use attachment::{
    Attachment, clean_name, excerpt_text, seems_to_name_a_blob, split_attachments, with_attachments,
    with_labels,
};
pub use content_hash::ContentHash;
pub use day::Day;
pub use id::{BubbId, MAX_TIME, NoId};
pub use model_label::{model_label, plural, plural_in_thousands, thousands};
pub use name::BubbName;
