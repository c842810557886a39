//! Replay: asks the questions of a conversation again, in order. Its other visible messages are copied,
//! except answers, which the model generates again.

mod plan;
mod results;
mod run;

pub use plan::{ReplayOptions, ReplayPlan, ReplayStep};
pub(crate) use results::RecordedResults;
pub use run::{ReplayObserver, ReplayOutcome, all, replay};
