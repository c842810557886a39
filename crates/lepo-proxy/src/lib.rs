//! A proxy before language models: passes on the requests of any program, and records them as conversations.
//!
//! `wire` and `request` parse a request, `tree` finds the path that it continues, `recorder` writes its new messages,
//! `answer` parses the answer, and `recording` writes that. `server` passes both on. `cassette` answers from the store.

mod answer;
mod cassette;
mod incoming;
mod proxy_store;
mod recorder;
#[cfg(test)]
mod recorder_room_tests;
#[cfg(test)]
mod recorder_tests;
mod recording;
mod request;
mod request_notes;
mod server;
mod tree;
mod wire;
#[cfg(test)]
mod wires_tests;

pub use answer::FinishWord;
pub use cassette::{CassetteLookup, ProxyCassette, RecordedReply};
pub use recorder::ProxyRecorder;
pub use recording::{ExchangeEnd, ExchangeNote, ProxyRecording, RecordedExchange};
pub use request::{
    CallOutput, MessageItem, ProxyCall, ProxyFile, ProxyMessage, ProxyRequest, ProxyRole, ProxyTool,
    UnreadableRequest,
};
pub use request_notes::{RequestNotes, tool_hashes};
pub use server::{
    EventSink, ExchangeFacts, ProxyEvent, ProxyListener, ProxyState, ProxyToken, UpstreamTable,
};
pub use tree::{IgnoredText, PartKind, PathHash, RequestLayout, RequestPart};
pub use wire::ProxyWire;
