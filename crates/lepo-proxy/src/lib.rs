//! A proxy before language models: what any program asks them goes on byte for byte, and is kept as a conversation.
//!
//! `wire` and `request` read what comes, `tree` finds where it continues, `recorder` writes what is new, `answer` reads
//! what comes back, and `recording` keeps it. `server` passes both on.

mod answer;
mod received;
mod recorder;
#[cfg(test)]
mod recorder_tests;
mod recording;
mod request;
mod request_facts;
mod server;
mod tree;
mod wire;
#[cfg(test)]
mod wires_tests;

pub use answer::FinishWord;
pub use recorder::ProxyRecorder;
pub use recording::{AnswerEnd, ExchangeNote, ProxyRecording, RecordedExchange};
pub use request::{
    CallOutput, MessageItem, ProxyCall, ProxyFile, ProxyMessage, ProxyRequest, ProxyRole, ProxyTool,
    UnreadableRequest,
};
pub use request_facts::{RequestNotes, tool_hashes};
pub use server::{
    EventSink, ExchangeFacts, ProxyEvent, ProxyListener, ProxyState, ProxyToken, UpstreamTable,
};
pub use tree::{PartKind, PathHash, RequestLayout, RequestPart};
pub use wire::ProxyWire;
