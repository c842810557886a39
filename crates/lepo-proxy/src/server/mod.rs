//! The server: connections, where requests go, and how their answers come back.

mod cassette_door;
mod connections;
mod door;
mod exchange;
mod headers;
mod refusal;
mod request_body;
mod serve;
mod service;
mod state;
mod token;
mod upstream;

pub use serve::ProxyListener;
pub use state::{EventSink, ExchangeFacts, ProxyEvent, ProxyState};
pub use token::ProxyToken;
pub use upstream::UpstreamTable;
