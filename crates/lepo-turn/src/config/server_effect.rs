//! Describes the whole definition of an MCP server in a line, which the user sees before consent, including
//! the values of variables and headers, because `LD_PRELOAD`, `NODE_OPTIONS` and `PATH` decide which code
//! runs. Values that look like a secret are hidden.

use lepo_base::secret::Secret;
use lepo_secrets::{Masker, is_named_secret};
use lepo_tool::mcp::config::{ServerConfig, ServerTarget};

/// Replaces a hidden value.
const HIDDEN: &str = "(hidden: it looks like a secret)";

/// Variables whose names end like a secret's, and whose values are programs.
const NAMES_OF_PROGRAMS: &[&str] = &["ASKPASS", "_COMMAND", "_CMD", "_HELPER"];

/// Headers that contain a secret, in lower case.
const SECRET_HEADERS: &[&str] = &["authorization", "proxy-authorization", "cookie"];

/// Describes which program a server starts, or its URL.
pub fn server_effect(config: &ServerConfig) -> String {
    let with = |what: &str, entries: &[(String, Secret)]| match entries {
        [] => String::new(),
        entries => format!(", with {what} {}", entries.iter().map(entry).collect::<Vec<_>>().join(", ")),
    };
    let what = match &config.target {
        ServerTarget::Program { command, args, env, cwd } => {
            let args: Vec<String> = [command].into_iter().chain(args).map(|word| masked(word)).collect();
            let folder_text = cwd.as_ref().map(|dir| format!(" in {dir:?}")).unwrap_or_default();
            format!("runs {args:?}{folder_text}{}", with("env", env))
        }
        ServerTarget::Remote { url, headers, identity, .. } => {
            let client = identity.client_id.as_ref().map(|id| format!(", signed in as client {id:?}"));
            let url = config.details.written.clone().unwrap_or_else(|| url.to_string());
            format!("connects to {}{}{}", masked(&url), with("headers", headers), client.unwrap_or_default())
        }
    };
    let variables = config.details.variables.iter();
    let variables: String =
        variables.map(|used| format!(", puts your {} into {}", used.name, used.target)).collect();
    let off = if config.enabled { "" } else { ", but is turned off" };
    format!("server {:?}: {what}{variables}{off}", config.name)
}

/// Formats a variable or a header with its value.
fn entry((name, value): &(String, Secret)) -> String {
    let value = value.reveal();
    let is_secret = is_named_secret(name) || SECRET_HEADERS.contains(&name.to_ascii_lowercase().as_str());
    let names_program = NAMES_OF_PROGRAMS.iter().any(|end| name.to_ascii_uppercase().ends_with(end));
    // A value with a placeholder names a variable, and does not contain its value yet.
    match is_secret && !names_program && !value.is_empty() && !value.contains("${") {
        true => format!("{name}={HIDDEN}"),
        false => format!("{name}={:?}", masked(value)),
    }
}

/// Hides the parts of a text that have the format of a secret.
fn masked(text: &str) -> String {
    let masker = Masker::for_imports();
    masker.mask(text).text.into_owned()
}
