//! The forest formed by the names: convs, tails, heights, addresses. No I/O.

mod address;
mod beginning;
mod check;
mod diff;
mod forest;
mod graph;
mod heights;
mod nearest;
mod origins;
mod pending;
mod prune;
mod siblings;
mod tails;
mod through;
mod turns;
mod wanted;

pub use address::{AddressMatch, AddressSpec, AddressTarget, SHORTEST};
pub use beginning::ids_beginning;
pub use check::{Flaw, flaws};
pub use diff::BubbPair;
pub use forest::{AHEAD, Conv, ConvEnd, Forest, Ix};
pub use graph::GraphRow;
pub use heights::{Heights, Sums};
pub use nearest::NearestAncestor;
pub use origins::ConvOrigins;
pub use pending::RequestState;
pub use prune::Pruner;
pub use siblings::SiblingTails;
pub use wanted::ReadScope;

#[cfg(test)]
mod fixture;
