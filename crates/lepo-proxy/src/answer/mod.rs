//! Parses answers of all wires while they arrive.

mod chat;
mod messages;
mod ollama;
mod reader;
mod responses;
#[cfg(test)]
mod tests;
mod unpack;
mod update;

pub use reader::ProxyAnswerReader;
pub use update::{AnswerUpdate, CallUpdate, FinishWord, TokenCounts};
