//! A bubb as a value: its id, its kind, its file name. No I/O, no clock.

mod id;
mod kind;
mod name;

pub use id::{BubbId, ContentHash, MAX_TIME};
pub use kind::Kind;
pub use name::Name;
