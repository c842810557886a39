//! One turn: from a question to its answer, each step a bubb. Events go up to a [`Front`]; no terminal here.
//!
//! This room is where the others meet: [`context`] alone turns bubbs into messages.

mod aftermath;
mod answer_loop;
pub mod attach;
mod between;
mod call;
mod call_filter;
mod called;
mod catalogue;
mod command_runner;
mod compact;
pub mod config;
mod context;
mod decision;
mod env;
mod event;
mod fill;
mod flow;
mod group;
mod interrupt;
mod journal;
mod native;
mod offer;
mod plan;
mod planner;
mod prompts;
mod question;
mod receive;
mod record;
mod report;
mod request;
mod result_text;
mod schema;
mod send;
mod served;
mod start;
mod transcript;

pub use catalogue::Catalogue;
pub use command_runner::CommandRunner;
pub use compact::{Compaction, KEEP};
pub use decision::{Decision, Verdict};
pub use env::{Configured, TrustedFile, TurnEnv};
pub use event::{Event, Front, RunBy};
pub use flow::Ask;
pub use group::{Bid, GroupMode, GroupOutcome, GroupTurn, Moment, Panel, Speech, Watch};
pub use interrupt::Interrupt;
pub use prompts::{ListedPrompt, Prompts, repo_file, repo_prompts};
pub use question::{ContextFile, Part, Question, join_parts, not_utf8};
pub use report::{Answered, Report, ToolUse};
pub use schema::AnswerSchema;
pub use served::{PromptWish, ResourceAddress, Served};
pub use start::{Start, StartOptions, start};
