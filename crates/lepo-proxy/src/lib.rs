//! A proxy before language models: what any program asks them goes on byte for byte, and is kept as a conversation.

mod wire;

pub use wire::ProxyWire;
