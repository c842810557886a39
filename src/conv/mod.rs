//! The forest that the names make: convs, tails, heights, addresses. Pure: it opens nothing.

mod address;
mod check;
mod forest;
mod heights;
mod only;
mod standing;
mod tails;

pub use address::{Address, Addressee};
pub use check::{Flaw, flaws};
pub use forest::{Conv, End, Forest, Ix};
pub use heights::Heights;
pub use standing::Standing;
pub use tails::Tails;

#[cfg(test)]
pub(crate) mod fixture;
