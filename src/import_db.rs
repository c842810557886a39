//! The interface to the program `lepo-import-db`, which reads histories that other tools keep in databases.

pub use crate::bubb::Kind;
pub use crate::import::{
    Conversation, File, Parts, Scanner, Value, What, file_of_url, line, open_webui, written_time,
};
