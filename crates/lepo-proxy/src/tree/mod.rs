//! Where a request continues in the store, and what of it is new.

mod ignored_text;
mod layout;
mod part_key;
mod path_index;
mod store_index;

pub use ignored_text::IgnoredText;
pub use layout::{PartKind, RequestLayout, RequestPart, call_text, settled_text};
pub use part_key::PathHash;
pub use path_index::{FoundPath, NextPart, PathPoint, SystemText};
pub use store_index::{RESPONSE, StoreIndex, facts_of_original};
