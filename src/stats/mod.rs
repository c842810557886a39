//! Counts token use from the journal by day, week, model or conversation. Pure.

mod cost;
mod tally;
mod tally_keys;

pub use cost::{Cost, CostFields, Costs};
pub use tally::{GroupBy, TallyKey, TallyRow, TallyRows, tally};
pub use tally_keys::TallyKeys;
