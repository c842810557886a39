//! MCP: the servers a user configured, their tools, and calls of them. Only [`client`] knows the
//! protocol's library, and [`serve`], the other side of it.

mod blocks;
mod callback;
pub mod client;
pub mod config;
mod content;
mod failure_words;
mod form;
mod offers;
mod pins;
mod reading;
mod request;
mod secrets;
pub mod serve;
mod servers;
mod tools;

pub use blocks::blocks;
pub use callback::Callback;
pub use content::{Block, CallResult};
pub use form::{Asked, Caller, Field, Form, FormAnswer};
pub use offers::{Prompt, PromptArgument, Resource};
pub use pins::Pins;
pub use reading::{Content, PromptMessage};
pub use request::{CallRequest, native_name};
pub use servers::{Called, Patience, Server, Servers};
pub use tools::Tool;
