//! HTTP clients of lepo: how each begins ([`net`]), which addresses are this machine's ([`address`]), one file from the web ([`mod@fetch`]), addresses
//! that a stranger may name ([`public_address`]), and the async runtime with
//! threads for work that blocks ([`runtime`]).

pub mod address;
pub mod fetch;
pub mod net;
pub mod public_address;
pub mod runtime;
