//! Where a request continues in the store, and what of it is new.

mod layout;
mod part_key;
mod path_index;
mod store_index;

pub use layout::{PartKind, RequestLayout, RequestPart, call_text, settled_text};
pub use part_key::PathHash;
pub use path_index::{FoundPath, NextPart, PathPoint, SystemText};
pub use store_index::StoreIndex;
