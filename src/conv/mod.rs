//! The forest that the names make: convs, tails, heights, addresses. Pure: it opens nothing.

mod address;
mod check;
mod diff;
mod forest;
mod graph;
mod only;
mod pending;
mod standing;
mod tails;
mod turns;

pub use address::{Address, Addressee, Found, Word};
pub use check::{Flaw, flaws};
pub use diff::Pair;
pub use forest::{Conv, End, Forest, Ix};
pub use graph::Row;
pub use standing::Standing;

#[cfg(test)]
pub(crate) mod fixture;
