//! The promised interface: open a store, list its tails, read, verify, append, watch.
//!
//! None of its types is one of the modules beside it, which are lepo's own and may change at any time.

mod conversations;
mod failure;
mod message;
mod watching;

pub use conversations::Conversations;
pub use failure::Failure;
pub use message::{Conversation, Message, MessageId, NewMessage, NoId, Problem, Speaker, Tail};
pub use watching::Watching;
