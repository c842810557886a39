//! The forest that the names make: convs, tails, heights, addresses. Pure: it opens nothing.

mod address;
mod check;
mod forest;
mod only;
mod standing;
mod tails;

pub use address::{Address, Addressee};
pub use check::{Flaw, flaws};
pub use forest::{Conv, End, Forest, Ix};
pub use standing::Standing;

#[cfg(test)]
pub(crate) mod fixture;
