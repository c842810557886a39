//! The store of lepo as a library: `docs/format.md` in Rust.
#![doc = include_str!("../README.md")]
// The modules are internal to lepo:
//
// | module | contents |
// |---|---|
// | `bubb` | values: ids, kinds, file names |
// | `conv` | the forest in memory: tails, heights, addresses; no I/O |
// | `store` | the directory: open, scan, read, write, branches, blobs, journal, check, recover |
// | `stable` | the public interface with a promise of stability, on top of these |
//
// All calls are synchronous, and the crate knows no network, no terminal and no environment.

// The fixture of forests, which other crates include in their tests, names this crate.
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
