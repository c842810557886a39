//! The public interface with a promise of stability: open a store, list its tails, read, verify, append, watch.
//!
//! No type of it comes from the sibling modules, which are internal and may change at any time.

mod conversations;
mod failure;
mod message;
mod watching;

pub use conversations::Conversations;
pub use failure::Failure;
pub use message::{Conversation, Message, MessageId, NewMessage, NoId, Problem, Speaker, Tail};
pub use watching::Watching;
