//! One turn: from a question to its answer, each step a bubb. Events go up to a [`Front`]; no terminal here.
//!
//! This room is where the others meet: [`context`] alone turns bubbs into messages.

mod answer;
mod between;
mod call;
mod command;
mod context;
mod decision;
mod event;
mod general;
mod hold;
mod interrupt;
mod line;
mod many;
mod native;
mod plan;
mod planner;
mod question;
mod report;
mod request;
mod send;
mod start;
mod turn;

pub use between::{keep, run};
pub use call::Mcp;
pub use command::Hands;
pub use decision::{Decision, Verdict};
pub use event::{Event, Front};
pub use interrupt::Interrupt;
pub use many::{Bid, Debated, Moment, Polled, Speech, Stage, Voice, Watch};
pub use question::{Context, Part, question};
pub use report::{Answered, Report, ToolUse};
pub use start::{Start, Wish, start};
pub use turn::{Ask, Turn};
