//! The interface to the program `lepo-import-db`, which reads histories that other tools keep in databases.

pub use crate::import::{
    Calls, Conversation, File, OpencodeLine, OpencodeMessage, Parts, Scanner, Value, What, file_of_hash,
    gather, line, open_webui, opencode_part, written_time,
};
pub use lepo_store::bubb::Kind;
