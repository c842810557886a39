//! Replay: asks the questions of a conversation again, in order. Its other visible messages are copied,
//! except answers, which the model generates again.

mod plan;
mod results;
mod run;

pub use plan::{Plan, PlanOptions, Step};
pub(crate) use results::ResultRecord;
pub use run::{Progress, ReplayedLine, all, replay};
