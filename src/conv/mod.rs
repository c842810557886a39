//! The forest that the names make: convs, tails, heights, addresses. Pure: it opens nothing.

mod address;
mod check;
mod forest;
mod only;
mod pending;
mod tails;

pub use address::{Address, Addressee, Found, Word};
pub use check::{Flaw, flaws};
pub use forest::{Conv, End, Forest, Ix};

#[cfg(test)]
pub(crate) mod fixture;
