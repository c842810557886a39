//! Token use, counted from the journal: by day, week, model or conversation. Pure.

mod cost;
mod place;
mod tally;

pub use cost::{Cost, Costs};
pub use place::Places;
pub use tally::{By, RecordPlace, Row, Rows, tally};
