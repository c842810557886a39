//! Histories of other tools as conversations: plain values, independent of how lepo stores them.
//!
//! Each format has a file: it reads a source and returns [`History`] values.
//!
//! | module | contents |
//! |---|---|
//! | `format` | the formats: a name, a reader, whether its sources contain a directory |
//! | `recognise`, `foreign`, `places` | a source's format by its marks; unsupported tools; where histories are |
//! | `source`, `archive`, `zst` | safe opening of files, zip files, Zstandard; all bytes read are counted |
//! | `values`, `scanner`, `json` | the JSON values of a stream, one at a time |
//! | `conversation`, `parts`, `tree`, `log` | the values that readers return, and the helpers that build them |
//! | `injected`, `output`, `attach` | inserted text apart from typed text; a tool's result as a text; files |
//! | `stream` | conversations as lines of JSON, by which the program `lepo-import-db` returns a database |
//!
//! `src/import/` of lepo turns the values into bubbs. This crate uses no store, no terminal, no network and no
//! environment.
//!
//! Published for lepo's own crates, without a promise: it changes at any time.

mod archive;
mod attach;
mod changed_logs;
mod chatgpt;
mod claude_ai;
mod claude_code;
mod claude_lines;
mod claude_prompts;
mod claude_tables;
mod codex;
mod codex_records;
mod conversation;
mod echoes;
mod exported;
mod foreign;
mod format;
mod gemini;
mod injected;
mod jan;
mod json;
mod librechat;
mod linked_log;
mod llama_ui;
mod lmstudio;
mod message_builder;
mod message_items;
mod messages;
mod opencode;
mod openwebui;
mod output;
mod pi;
mod recognise;
mod source;
mod stream;
mod threads;
mod time;
mod tool_histories;
mod tree;
mod unescape;
mod value_reader;
mod zst;

pub use attach::of_hash as file_of_hash;
pub use changed_logs::{LogFolder, log_folders, sources_of};
pub use conversation::{History, ImportNode, ImportedFile, NodeContent};
pub use format::{FORMATS, SourceFormat};
pub use json::{JsonValue, read_json};
pub use message_builder::MessageBuilder;
pub use opencode::{
    CallNodes, OpencodeFacts as OpencodeMessage, OpencodeLine, gather, part as opencode_part,
};
pub use openwebui::read_text as open_webui;
pub use recognise::{directory_of, is_about, is_below, recognise};
pub use source::{SkipCounts, SourceReader, files_in, folders_in};
pub use stream::{line, read_stream};
pub use threads::commit_of;
pub use time::read as written_time;
pub use tool_histories::{ToolHistory, find_histories};

use lepo_base::error::Result;

/// Receives each conversation.
pub type ConversationSink<'e> = dyn FnMut(History) -> Result<()> + 'e;

#[cfg(test)]
mod skipped_tests;

#[cfg(test)]
mod values_tests;

#[cfg(test)]
mod world_tests;

#[cfg(test)]
mod world_marks_tests;

#[cfg(test)]
mod world_logs_tests;
