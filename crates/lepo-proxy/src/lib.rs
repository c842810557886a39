//! A proxy before language models: what any program asks them goes on byte for byte, and is kept as a conversation.

mod request;
mod wire;

pub use request::{
    CallOutput, MessageItem, ProxyCall, ProxyFile, ProxyMessage, ProxyRequest, ProxyRole, ProxyTool,
    UnreadableRequest,
};
pub use wire::ProxyWire;
