//! MCP: the configured servers, their tools, and tool calls. Only [`client`] and [`serve`], lepo as a server, use the
//! protocol's library.

mod blocks;
mod callback;
pub mod client;
pub mod config;
mod content;
mod failure_words;
mod folders;
mod form;
mod lists;
mod notice;
mod offers;
mod patience;
mod pins;
mod programs_to_start;
mod reading;
mod request;
mod secrets;
pub mod serve;
mod server;
mod servers;
mod session;
mod tools;

pub use blocks::blocks;
pub use callback::Callback;
pub use content::{CallResult, ResultBlock};
pub use folders::{ServerFolders, program_label};
pub use form::{ElicitationForm, ElicitationHandler, ElicitationResult, FormField, ServerQuestion};
pub use lists::{KeyedHash, ToolListCache, forget_tool_lists};
pub use notice::{KeyFault, ServerNotice, ToolsFault};
pub use offers::{McpPrompt, PromptArgument, Resource};
pub use patience::ServerTimeouts;
pub use pins::Pins;
pub use programs_to_start::{end_server, programs_to_start};
pub use reading::{PromptMessage, ResourceContent, fill_prompt, listed_prompt, read_resource};
pub use request::{CallRequest, native_name};
pub use server::Server;
pub use servers::{CallOutcome, Servers};
pub use tools::Tool;
