//! The facts that several rooms show, collected once. Neither terminal nor network.

mod overview;

pub use overview::{Overview, Overviews};
