//! Replay: the questions of a conversation asked again, in order. Its visible messages that are no answers are copied, and
//! each answer is asked for anew.

mod plan;
mod results;
mod run;

pub use plan::{Plan, PlanOptions, Step};
pub(crate) use results::ResultRecord;
pub use run::{Progress, ReplayedLine, all, replay};
