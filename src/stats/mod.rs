//! Counts token use from the journal by day, week, model or conversation. Pure.

mod cost;
mod record_places;
mod tally;

pub use cost::{Cost, Costs};
pub use record_places::TallyKeys;
pub use tally::{GroupBy, TallyKey, TallyRow, TallyRows, tally};
