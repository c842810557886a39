//! Resolves files and environment to [`Settings`], once; they are only borrowed afterwards. This module does
//! not print, and uses the network or runs programs only when called to do so.

mod alias;
mod ambient;
mod choose;
mod edit;
mod entry;
mod file;
mod flags;
mod folder_trust;
mod import;
mod insts;
mod mistake;
mod models;
mod money;
mod options;
mod pager_setting;
mod paths;
mod price;
mod program;
mod program_trust;
mod prompts;
mod reader;
mod server_effect;
mod set;
mod setting_enums;
mod setting_value;
mod settings;
mod source;
mod system_prompt;
mod table;
mod tidy;
mod touched;
mod tree;
mod trust;
mod write;

#[cfg(test)]
mod tests;

pub use alias::Alias;
pub use choose::{LocalModels, ModelChoice};
pub use edit::{NewModel, add_model, planned_model, remove_model, set_active, set_tool_mode};
pub use entry::KeyEntry;
pub use file::{RecordedTable, aliases};
pub use flags::Flags;
pub use folder_trust::{FolderQuestion, FolderTrust, work_folder};
pub use import::ConfigImport;
pub use insts::{Insts, fill, is_general_as_made};
pub use money::{Budgets, Money, short_cost};
pub use pager_setting::PagerChoice;
pub use paths::Paths;
pub use price::Prices;
pub use program_trust::{ChangedFile, ProgramTrust};
pub use prompts::{PromptTemplate, TemplateValues, check_prompt_name, prompt_names};
pub use set::{check_config, replace_config, set_setting, setting_names, unset_setting};
pub use setting_enums::{
    AttentionSignal, AutoCompact, CallHistory, EditKeys, EmptyLine, LogLevel, MathNotation, NewConversation,
    SecretsMode, ThinkingShown,
};
pub use settings::{SettingRow, load_settings, setting_lines};
pub use source::SettingSource;
pub use system_prompt::{DEFAULT_SYSTEM_PROMPT, SHORT_SYSTEM_PROMPT, is_as_made, system_prompt};
pub use table::Settings;
pub use tidy::RemovedSpan;
pub use trust::{RepoFile, Trust};
pub use write::replace as replace_file;
