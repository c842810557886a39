//! The forest formed by the names: convs, tails, heights, addresses. No I/O.

mod address;
mod check;
mod diff;
mod fold;
mod forest;
mod graph;
mod id_prefix;
mod nearest;
mod newest;
mod pending;
mod prune;
mod read_scope;
mod siblings;
mod tails;
mod turns;

pub use address::{AddressMatch, AddressSpec, AddressTarget, SHORTEST};
pub use check::{Flaw, flaws};
pub use diff::BubbPair;
pub use fold::{ConvOutlines, Fold};
pub use forest::{AHEAD, Conv, ConvEnd, Forest, Ix};
pub use graph::GraphRow;
pub use id_prefix::ids_beginning;
pub use nearest::NearestAncestor;
pub use pending::RequestState;
pub use prune::Pruner;
pub(crate) use read_scope::{ReadReach, judged_since};
pub use read_scope::{ReadScope, TailScope};
pub use siblings::SiblingTails;

#[cfg(test)]
mod fixture;
