//! MCP: the configured servers, their tools, and tool calls. Only [`client`] and [`serve`], lepo as a server, use the
//! protocol's library.

mod callback;
pub mod client;
pub mod config;
mod constant_lists;
mod content;
mod elicitation;
mod failure_text;
mod folders;
mod notice;
mod offers;
mod pins;
mod programs_to_start;
mod prompt_tools;
mod request;
mod resource_content;
mod secrets;
pub mod serve;
mod server;
mod servers;
mod session;
mod start_tasks;
mod tool_list_cache;
mod tools;

pub use callback::Callback;
pub use client::{ServerTimeouts, StartingNames};
pub use constant_lists::{shelve, unshelve, use_last_lists};
pub use content::{CallResult, ResultBlock};
pub use elicitation::{ElicitationForm, ElicitationHandler, ElicitationResult, FormField, ServerQuestion};
pub use folders::{ServerFolders, program_label};
pub use notice::{KeyFault, ServerNotice, ToolsFault};
pub use offers::{McpPrompt, PromptArgument, Resource};
pub use pins::Pins;
pub use programs_to_start::{end_server, programs_to_start};
pub use prompt_tools::blocks;
pub use request::{CallRequest, native_name};
pub use resource_content::{
    PromptMessage, ResourceContent, fill_prompt, listed_prompt, read_resource, wake_server,
};
pub use server::Server;
pub use servers::{CallOutcome, Servers};
pub use tool_list_cache::{KeyedHash, ToolListCache, forget_tool_lists};
pub use tools::Tool;
