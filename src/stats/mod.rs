//! Token use, counted from the journal: by day, week, model or conversation. Pure.

mod place;
mod tally;

pub use place::Places;
pub use tally::{By, RecordPlace, Row, Rows, tally};
