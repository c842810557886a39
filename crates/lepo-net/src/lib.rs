//! HTTP clients of lepo: how each begins ([`net`]), which addresses are this machine's ([`address`]), one file from the web ([`mod@fetch`]), and the async runtime with
//! threads for work that blocks ([`runtime`]).

pub mod address;
pub mod fetch;
pub mod net;
pub mod runtime;
