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

pub use address::{Addressee, Found, SHORTEST, Word};
pub use beginning::ids_beginning;
pub use check::{Flaw, flaws};
pub use diff::Pair;
pub use forest::{AHEAD, Conv, End, Forest, Ix};
pub use graph::GraphRow;
pub use heights::{Heights, Sums};
pub use nearest::Nearest;
pub use origins::Origins;
pub use pending::Standing;
pub use prune::Pruner;
pub use siblings::Siblings;
pub use wanted::Wanted;

#[cfg(test)]
mod fixture;
