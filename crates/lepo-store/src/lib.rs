//! The store of lepo: a directory `.lepo` with one Markdown file a message, linked by the names of the files into a
//! forest of conversations.
//!
//! | module | holds |
//! |---|---|
//! | [`bubb`] | values: ids, kinds, file names |
//! | [`conv`] | the forest in memory: tails, heights, addresses; no I/O |
//! | [`store`] | the directory: open, scan, read, write, branches, blobs, journal, check, recover |
//!
//! Synchronous; knows no network, no terminal and no environment.

// For the fixture of forests, which other crates compile into their tests.
#[cfg(test)]
extern crate self as lepo_store;

pub mod bubb;
pub mod conv;
pub mod store;
