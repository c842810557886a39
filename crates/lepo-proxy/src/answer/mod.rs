//! An answer while it comes: what each piece of it adds, whatever the wire.

mod chat;
mod messages;
mod ollama;
mod reader;
mod responses;
#[cfg(test)]
mod tests;
mod unpack;
mod update;

pub use reader::AnswerReader;
pub use update::{AnswerUpdate, CallUpdate, FinishWord, TokenCounts};
