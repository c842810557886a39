//! The store as a cassette: finds the recorded answer to a request, and writes it in the form of the request's wire.

mod recorded_request;
mod render;
mod reply;
mod table;
#[cfg(test)]
mod tests;

pub use render::render;
pub use reply::RecordedReply;
pub use table::{CassetteLookup, ProxyCassette};
