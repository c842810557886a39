//! `mcp.json`: MCP servers under `mcpServers`, which other clients read too, or under the keys of VS Code, Zed, Codex and
//! OpenCode. A mistake disables only its own server; the notice names the server and the key, never a value,
//! which may be a secret.

mod duplicate_keys;
mod entry;
mod identity;
mod json_comments;
mod mistake;
mod own_form;
mod remote;
mod server;
mod server_fields;
mod variables;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::notice::{KeyFault, ServerNotice};
use lepo_base::error::{Error, Result};
use lepo_base::hash_file::read_if_there;

use duplicate_keys::{ROOTS, duplicate_key, keys_twice};
use entry::read;
pub use identity::ClientIdentity;
pub use json_comments::without_comments;
pub use server::{ServerConfig, ServerDetails, ServerTarget, Transport};
pub use variables::{EntryOrigin, ServerVariables, UsedVariable};

/// Keys of a file next to the servers: a file with only these has no servers.
const NO_SERVERS: &[&str] = &["$schema", "inputs"];

/// Whether a value is a server's entry. An object under one of these keys is a server of that name in a list.
fn is_server(value: &Value) -> bool {
    ["command", "url", "type", "enabled"].iter().any(|key| value.get(key).is_some_and(|it| !it.is_object()))
}

/// Returns the enabled and usable servers, and the notices about the files.
pub fn servers(
    file: &Path,
    repo: Option<(PathBuf, Vec<u8>)>,
    variables: &ServerVariables<'_>,
) -> Result<(Vec<ServerConfig>, Vec<ServerNotice>)> {
    let mut servers = all_servers(file, repo, Some(variables))?;
    let notices = notes(&servers);
    servers.retain(|server| server.enabled && server.details.left_out.is_none());
    Ok((servers, notices))
}

/// Collects the notices about enabled servers; servers whose time limit is read as seconds share one notice.
pub fn notes(servers: &[ServerConfig]) -> Vec<ServerNotice> {
    let mut notices = Vec::new();
    for server in servers.iter().filter(|server| server.enabled) {
        let name = &server.name;
        notices
            .extend(server.details.notes.iter().map(|fault| ServerNotice::Key(name.clone(), fault.clone())));
        if let Some(why) = &server.details.left_out {
            notices.push(ServerNotice::LeftOut(name.clone(), why.clone()));
        }
    }
    let seconds: Vec<String> = servers
        .iter()
        .filter(|server| server.enabled && server.details.call_in_seconds)
        .map(|server| server.name.clone())
        .collect();
    if !seconds.is_empty() {
        notices.push(ServerNotice::InSeconds(seconds));
    }
    notices
}

/// Reads all servers: the user's from `file`, then a trusted repository's, which replace the user's servers of equal
/// name. Without `variables`, every text stays verbatim.
pub fn all_servers(
    file: &Path,
    repo: Option<(PathBuf, Vec<u8>)>,
    variables: Option<&ServerVariables<'_>>,
) -> Result<Vec<ServerConfig>> {
    let mut servers = match read_if_there(file)? {
        Some(bytes) => parse_with(file, &bytes, variables.map(|all| (all, EntryOrigin::User)))?,
        None => Vec::new(),
    };
    if let Some((path, bytes)) = repo {
        let mut theirs = parse_with(&path, &bytes, variables.map(|all| (all, EntryOrigin::Repository)))?;
        theirs.iter_mut().for_each(|server| server.details.origin = EntryOrigin::Repository);
        servers.retain(|server| theirs.iter().all(|other| other.name != server.name));
        servers.extend(theirs);
    }
    Ok(servers)
}

/// Parses a file without substituting variables. `path` is for error messages (exit 2).
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<ServerConfig>> {
    parse_with(path, bytes, None)
}

/// Parses a file and substitutes variables. Fails only if the file is not JSON or its servers are missing or not an
/// object; a server whose entry has a mistake is returned with the reason.
pub(super) fn parse_with(
    path: &Path,
    bytes: &[u8],
    variables: Option<(&ServerVariables<'_>, EntryOrigin)>,
) -> Result<Vec<ServerConfig>> {
    let wrong = |what: &str| {
        Error::usage(format!("{}: {what}", path.display()))
            .hint("expected {\"mcpServers\": {\"NAME\": {\"command\": …} or {\"url\": …}}}")
    };
    let bytes = without_comments(bytes);
    let document: Value =
        serde_json::from_slice(&bytes).map_err(|error| wrong("not valid JSON").because(error))?;
    let at = |root: &[&str]| root.iter().try_fold(&document, |value, key| value.get(key));
    let mut roots: Vec<_> = ROOTS.iter().filter_map(|root| Some((root.join("."), at(root)?))).collect();
    // OpenCode's key, under which VS Code has other settings.
    let is_list = |all: &Map<String, Value>| !all.is_empty() && all.values().all(is_server);
    if let Some(entries) = at(&["mcp"]).filter(|entries| entries.as_object().is_some_and(is_list)) {
        // A server may have the name `servers`.
        roots.retain(|(root, _)| root != "mcp.servers");
        roots.push(("mcp".to_string(), entries));
    }
    let is_about = |key: &String| NO_SERVERS.contains(&key.as_str());
    if roots.is_empty() && document.as_object().is_none_or(|document| !document.keys().all(is_about)) {
        return Err(wrong("no `mcpServers`"));
    }
    let twice = keys_twice(&bytes);
    let mut servers: Vec<ServerConfig> = Vec::new();
    for (root, entries) in roots {
        let none = Map::new();
        let is_none = entries.is_null() || entries.as_array().is_some_and(Vec::is_empty);
        let entries = if is_none { Some(&none) } else { entries.as_object() };
        for (name, fields) in entries.ok_or_else(|| wrong(&format!("`{root}` is not an object")))? {
            let mut server = match read(name, fields, variables) {
                Ok(server) => server,
                Err(mistake) => ServerConfig::left_out(name, fields, &mistake),
            };
            server.details.notes.extend(duplicate_key(&twice, name));
            // If two roots have a server of this name, the last counts.
            if let Some(at) = servers.iter().position(|other| other.name == *name) {
                servers.remove(at);
                server.details.notes.push(KeyFault::Twice(None));
            }
            servers.push(server);
        }
    }
    Ok(servers)
}
