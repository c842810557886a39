//! HTTP for lepo: how every client is configured ([`client`]), loopback addresses ([`address`]), fetching a file from the
//! web ([`mod@fetch`]), public addresses, for untrusted URLs ([`public_address`]), and the async runtime with threads
//! for blocking work ([`runtime`]).

pub mod address;
pub mod client;
pub mod fetch;
pub mod public_address;
pub mod runtime;
