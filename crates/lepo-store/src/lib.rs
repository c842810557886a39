//! The store of lepo as a library: `docs/format.md` in Rust.
#![doc = include_str!("../README.md")]
// The modules are lepo's own:
//
// | module | holds |
// |---|---|
// | `bubb` | values: ids, kinds, file names |
// | `conv` | the forest in memory: tails, heights, addresses; no I/O |
// | `store` | the directory: open, scan, read, write, branches, blobs, journal, check, recover |
// | `stable` | the promised interface, on top of these |
//
// Synchronous; knows no network, no terminal and no environment.

// For the fixture of forests, which other crates compile into their tests.
#[cfg(test)]
extern crate self as lepo_store;

#[doc(hidden)]
pub mod bubb;
#[doc(hidden)]
pub mod conv;
mod stable;
#[doc(hidden)]
pub mod store;

pub use stable::{
    Conversation, Conversations, Failure, Message, MessageId, NewMessage, NoId, Problem, Speaker, Tail,
    Watching,
};
