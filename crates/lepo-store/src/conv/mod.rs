//! The forest formed by the names: convs, tails, heights, addresses. No I/O.

mod address;
mod check;
mod diff;
mod forest;
mod graph;
mod heights;
mod id_prefix;
mod nearest;
mod origins;
mod pending;
mod prune;
mod read_scope;
mod siblings;
mod tails;
mod through;
mod turns;

pub use address::{AddressMatch, AddressSpec, AddressTarget, SHORTEST};
pub use check::{Flaw, flaws};
pub use diff::BubbPair;
pub use forest::{AHEAD, Conv, ConvEnd, Forest, Ix};
pub use graph::GraphRow;
pub use heights::{Heights, Sums};
pub use id_prefix::ids_beginning;
pub use nearest::NearestAncestor;
pub use origins::ConvOrigins;
pub use pending::RequestState;
pub use prune::Pruner;
pub use read_scope::ReadScope;
pub use siblings::SiblingTails;

#[cfg(test)]
mod fixture;
