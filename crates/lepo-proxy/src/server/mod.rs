//! The server: connections, where requests go, and how their answers come back.

mod door;
mod headers;
mod refusal;
mod token;
mod upstream;

pub use refusal::ProxyRefusal;
pub use token::{ClientKey, ProxyToken};
pub use upstream::UpstreamTable;
