//! Histories of other tools as conversations, and conversations as bubbs.
//!
//! One file a format: each reads its source and hands on [`Conversation`] values. [`plan()`] makes bubbs of them,
//! the same ones every time. Where a source is one stream of values, all processors work on it ([`parallel`]).
//! Pure but for reading the source; the store is written to by the command.

mod archive;
mod attach;
mod blocks;
mod brief;
mod chatgpt;
mod claude_ai;
mod claude_code;
mod claude_lines;
mod claude_prompts;
mod codex;
mod codex_lines;
mod codex_records;
mod conversation;
mod escape;
mod exported;
mod format;
mod gemini;
mod held;
mod jan;
mod json;
mod lepo;
mod librechat;
mod lmstudio;
mod log;
mod masked;
mod messages;
mod opencode;
mod openwebui;
mod parallel;
mod parts;
mod pi;
mod pieces;
mod places;
mod plan;
mod ready;
mod recognise;
mod scanner;
mod source;
mod stream;
mod threads;
mod time;
mod tree;
mod values;
mod waiting;
mod zst;

pub use attach::of_hash as file_of_hash;
pub use brief::Tools;
pub use conversation::{Conversation, File, What};
pub use format::{FORMATS, Format};
pub use held::Held;
pub use json::Value;
pub use lepo::{Copied, copy, is_request};
pub use opencode::{About as OpencodeMessage, Calls, Line as OpencodeLine, gather, part as opencode_part};
pub use openwebui::read_text as open_webui;
pub use parts::Parts;
pub use places::{Place, places};
pub use plan::{NO_TIME, Plan, Rules, VERSION, plan};
pub use ready::Keep;
pub use recognise::{is_about, recognise};
pub use scanner::Scanner;
pub use source::{Reading, Tally};
pub use stream::{line, read_stream};
pub use time::read as written_time;

use lepo_base::error::Result;

/// Takes each conversation that is read.
pub type Each<'e> = dyn FnMut(Conversation) -> Result<()> + 'e;

#[cfg(test)]
#[allow(clippy::string_slice)]
mod tests;

#[cfg(test)]
mod blocks_tests;

#[cfg(test)]
mod histories_tests;

#[cfg(test)]
mod plan_tests;

#[cfg(test)]
mod skipped_tests;

#[cfg(test)]
mod values_tests;
