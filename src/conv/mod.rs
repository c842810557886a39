//! The forest that the names make: convs, tails, heights, addresses. Pure: it opens nothing.

mod address;
mod forest;
mod tails;

pub use address::{Address, Addressee};
pub use forest::{Conv, End, Forest, Ix};
pub use tails::{Heights, Tails};

#[cfg(test)]
pub(crate) mod fixture;
