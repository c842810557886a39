//! Files and environment → [`Settings`], resolved once and then only lent. Nothing here prints,
//! talks to a network or runs unless it is called.

mod alias;
mod ambient;
mod choose;
mod edit;
mod entry;
mod field;
mod file;
mod form;
mod identity;
mod import;
mod insts;
mod json_comments;
mod model;
mod models;
mod options;
mod paths;
mod price;
mod program;
mod prompts;
mod provider;
mod reader;
mod remote;
mod server_entry;
mod server_variables;
mod servers;
mod set;
mod settings;
mod system_prompt;
mod table;
mod tidy;
mod trust;
mod twice;
mod url;
mod word;
mod write;

#[cfg(test)]
mod tests;

pub use alias::{Alias, aliases};
pub use choose::{Found, ModelChoice};
pub use edit::{NewModel, add_model, set_active, set_tool_mode};
pub use identity::ClientIdentity;
pub use import::Plan;
pub use insts::{Insts, fill};
pub use model::{AnswerForm, Key, ModelConfig, Secret};
pub use options::Options;
pub use paths::Paths;
pub use price::Price;
pub use prompts::{Filling, Prompt, check_prompt_name, prompt_names};
pub use provider::{Fields, OPENAI_URL, Provider, Wire};
pub use reader::Source;
pub use server_variables::ServerVariables;
pub use servers::{
    ServerConfig, ServerDetails, Target, Transport, all_servers, notes as server_notes,
    parse as parse_servers, servers,
};
pub use set::{check_config, replace_config, set_setting, setting_names, unset_setting};
pub use settings::{Flags, Line};
pub use system_prompt::{DEFAULT_SYSTEM_PROMPT, system_prompt};
pub use table::Settings;
pub use trust::{HashFile, RepoFile, Trust, hash_of};
pub use url::{is_loopback, needs_certificates};
pub use word::{
    AutoAccess, AutoCompact, EmptyLine, LogLevel, Planner, ToolMode, Word, list_words, read_word,
};
