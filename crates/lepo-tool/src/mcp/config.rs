//! `mcp.json`: the MCP servers, in the `mcpServers` form that other clients read too, and in `servers` as VS Code
//! has it. A mistake names the server and the key, and never a value, which may be a secret.

mod entry;
mod identity;
mod json_comments;
mod remote;
mod twice;
mod variables;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};
use url::Url;

use lepo_base::error::{Error, Result};
use lepo_base::record::read_if_there;
use lepo_base::secret::Secret;

use entry::read;
pub use identity::ClientIdentity;
pub use json_comments::without_comments;
use twice::told_twice;
pub use variables::{Origin, ServerVariables, Used};

/// One MCP server, as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Name of the server, for people and models.
    pub name: String,
    /// The user's description.
    pub description: Option<String>,
    /// The server may be used.
    pub enabled: bool,
    /// Type of the server.
    pub target: Target,
    /// Tools, time limits and variables of the server.
    pub details: ServerDetails,
}

/// The place of a server: a program or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A program of this machine, which is spoken to on its stdin and stdout.
    Program {
        /// The program.
        command: String,
        /// Arguments of the program: no shell ever sees them.
        args: Vec<String>,
        /// Variables added to its environment.
        env: Vec<(String, Secret)>,
        /// Its working directory, if that is not lepo's.
        cwd: Option<PathBuf>,
    },
    /// An address.
    Remote {
        /// The address.
        url: Url,
        /// The transport.
        transport: Transport,
        /// HTTP headers of every request.
        headers: Vec<(String, Secret)>,
        /// lepo's client identity at its authorization server.
        identity: Box<ClientIdentity>,
    },
}

/// The transport of a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// HTTP with server-sent events, of the protocol's first revision.
    Sse,
    /// Streamable HTTP.
    Http,
    /// Not configured: streamable HTTP, else server-sent events.
    HttpFirst,
    /// Not configured, with headers in `env`: server-sent events, else streamable HTTP.
    SseFirst,
}

/// The settings of a server besides its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerDetails {
    /// The tools that are used; all if it is `None`.
    pub included: Option<Vec<String>>,
    /// The tools that are not used.
    pub excluded: Vec<String>,
    /// The time limit for one call.
    pub call: Option<Duration>,
    /// The time limit for one call was taken as seconds.
    pub call_in_seconds: bool,
    /// The time limit for connecting.
    pub connect: Option<Duration>,
    /// The variables that its entry names, each with its place.
    pub variables: Vec<Used>,
    /// Values of variables that were put in, by name.
    pub filled: Vec<(String, Secret)>,
    /// The program with its arguments, or the address, as the file has it, where that names variables.
    pub written: Option<String>,
    /// Why the server cannot be used: a variable has no value.
    pub left_out: Option<String>,
    /// Keys that are not known or not honoured, in words.
    pub notes: Vec<String>,
}

impl ServerDetails {
    /// True if a tool of this name is used.
    pub fn uses(&self, tool: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == tool);
        self.included.as_ref().is_none_or(|names| named(names)) && !named(&self.excluded)
    }
}

/// The servers that are on and can be used, and what is to be said of the files.
pub fn servers(
    file: &Path,
    repo: Option<(PathBuf, Vec<u8>)>,
    variables: &ServerVariables<'_>,
) -> Result<(Vec<ServerConfig>, Vec<String>)> {
    let mut servers = all_servers(file, repo, Some(variables))?;
    let said = notes(&servers);
    servers.retain(|server| server.enabled && server.details.left_out.is_none());
    Ok((servers, said))
}

/// The notes on servers, each thing once.
pub fn notes(servers: &[ServerConfig]) -> Vec<String> {
    let mut said = Vec::new();
    for server in servers.iter().filter(|server| server.enabled) {
        let name = &server.name;
        said.extend(server.details.notes.iter().map(|note| format!("warning: MCP server {name:?}: {note}")));
        if let Some(why) = &server.details.left_out {
            said.push(format!("warning: MCP server {name:?} is left out: {why}"));
        }
    }
    let seconds: Vec<String> = servers
        .iter()
        .filter(|server| server.enabled && server.details.call_in_seconds)
        .map(|server| format!("{:?}", server.name))
        .collect();
    if !seconds.is_empty() {
        let names = seconds.join(", ");
        said.push(format!(
            "note: MCP server {names}: a `timeout` under 1,000 is taken as seconds; others are milliseconds"
        ));
    }
    said
}

/// All servers: those of the user's `file`, and a trusted repository's over them. A server of a name that both have is
/// the repository's. Without `variables` every text stays as it is written.
pub fn all_servers(
    file: &Path,
    repo: Option<(PathBuf, Vec<u8>)>,
    variables: Option<&ServerVariables<'_>>,
) -> Result<Vec<ServerConfig>> {
    let mut servers = match read_if_there(file)? {
        Some(bytes) => parse_with(file, &bytes, variables.map(|all| (all, Origin::User)))?,
        None => Vec::new(),
    };
    if let Some((path, bytes)) = repo {
        let theirs = parse_with(&path, &bytes, variables.map(|all| (all, Origin::Repository)))?;
        servers.retain(|server| theirs.iter().all(|other| other.name != server.name));
        servers.extend(theirs);
    }
    Ok(servers)
}

/// Reads a file's text, in which variables stay as they are written; `path` is what mistakes are reported
/// against (exit 2).
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<ServerConfig>> {
    parse_with(path, bytes, None)
}

/// The keys of the object that holds the servers.
pub(super) const ROOTS: [&str; 2] = ["mcpServers", "servers"];

/// Reads a file's text, with values for the variables that it names.
pub(super) fn parse_with(
    path: &Path,
    bytes: &[u8],
    variables: Option<(&ServerVariables<'_>, Origin)>,
) -> Result<Vec<ServerConfig>> {
    let wrong = |what: &str| {
        Error::usage(format!("{}: {what}", path.display()))
            .hint("it is to hold {\"mcpServers\": {\"NAME\": {\"command\": …} or {\"url\": …}}}")
    };
    let bytes = without_comments(bytes);
    let document: Value =
        serde_json::from_slice(&bytes).map_err(|error| wrong("not valid JSON").because(error))?;
    if let Some((what, hint)) = told_twice(&bytes) {
        return Err(Error::usage(format!("{}: {what}", path.display())).hint(hint));
    }
    let mut entries: Vec<(&String, &Value)> = Vec::new();
    let mut roots = ROOTS.iter().filter_map(|root| Some((root, document.get(root)?))).peekable();
    if roots.peek().is_none() {
        return Err(wrong("no `mcpServers`"));
    }
    for (root, servers) in roots {
        let servers: &Map<String, Value> =
            servers.as_object().ok_or_else(|| wrong(&format!("`{root}` is not an object")))?;
        if let Some(name) = servers.keys().find(|name| entries.iter().any(|(other, _)| other == name)) {
            return Err(wrong(&format!("server {name:?} is there twice")));
        }
        entries.extend(servers);
    }
    let read = |(name, fields): (&String, &Value)| {
        read(name, fields, variables).map_err(|mistake| {
            Error::usage(format!("{}: server {name:?}: {}", path.display(), mistake.what)).hint(mistake.hint)
        })
    };
    entries.into_iter().map(read).collect()
}

/// A mistake in a server, and what is allowed.
#[derive(Debug)]
pub(super) struct Mistake {
    /// The mistake.
    pub what: String,
    /// The remedy: the values that are allowed.
    pub hint: &'static str,
}

pub(super) fn mistake<T>(what: impl Into<String>, hint: &'static str) -> std::result::Result<T, Mistake> {
    Err(Mistake { what: what.into(), hint })
}
