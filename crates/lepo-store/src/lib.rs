//! The store of lepo as a library: `docs/format.md` in Rust.
#![doc = include_str!("../README.md")]
// | module | contents |
// |---|---|
// | `bubb` | values: ids, file names, hashes |
// | `conv` | the forest in memory: tails, heights, addresses; no I/O |
// | `store` | the directory: open, scan, read, write, branches, blobs, journal, check, recover |
//
// `public-interface.txt` lists what is promised; each item has an example. The rest is lepo's own, and is hidden from the
// documentation. All calls are synchronous, and the crate knows no network, no terminal and no
// environment.

// The fixture of forests, which other crates include in their tests, names this crate.
#[cfg(test)]
extern crate self as lepo_store;

#[doc(hidden)]
pub mod bubb;
#[doc(hidden)]
pub mod conv;
#[doc(hidden)]
pub mod store;

pub use bubb::{BubbId, NoId};
pub use lepo_base::role::Role;
pub use store::{
    AppendedMessage, Finding, FindingKind, Store, StoreError, StoreWatch, StoredConversation, StoredMessage,
    Tail,
};
