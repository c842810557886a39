//! A configured server.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::identity::ClientIdentity;
use super::mistake::EntryError;
use super::variables::{EntryOrigin, UsedVariable};
use crate::mcp::notice::KeyFault;
use lepo_base::secret::Secret;

/// An MCP server, as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Name, for users and models.
    pub name: String,
    /// The user's description.
    pub description: Option<String>,
    /// Whether the server may be used.
    pub enabled: bool,
    /// The program or the address.
    pub target: ServerTarget,
    /// Tools, time limits and variables.
    pub details: ServerDetails,
}

impl ServerConfig {
    /// Creates a server that is unusable because its entry has a mistake.
    pub(super) fn left_out(name: &str, fields: &Value, mistake: &EntryError) -> ServerConfig {
        let is_off = |key: &str, off: bool| fields.get(key).and_then(Value::as_bool) == Some(off);
        let why = format!("{} ({})", mistake.what, mistake.hint);
        let target =
            ServerTarget::Program { command: String::new(), args: Vec::new(), env: Vec::new(), cwd: None };
        ServerConfig {
            name: name.to_string(),
            description: None,
            enabled: !is_off("enabled", false) && !is_off("disabled", true),
            target,
            details: ServerDetails {
                left_out: Some(why),
                written: Some(String::new()),
                ..ServerDetails::default()
            },
        }
    }
}

/// The program or the address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerTarget {
    /// A program on this machine, which reads and writes messages on its stdin and stdout.
    Program {
        /// Name or path of the program.
        command: String,
        /// Arguments; no shell ever sees them.
        args: Vec<String>,
        /// Variables to add to its environment.
        env: Vec<(String, Secret)>,
        /// Configured start folder.
        cwd: Option<PathBuf>,
    },
    /// A remote server.
    Remote {
        /// URL for requests.
        url: Url,
        /// Transport to use.
        transport: Transport,
        /// HTTP headers of every request.
        headers: Vec<(String, Secret)>,
        /// lepo's client identity at its authorization server.
        identity: Box<ClientIdentity>,
    },
}

/// Transport of a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// HTTP with server-sent events, from the protocol's first revision.
    Sse,
    /// Streamable HTTP.
    Http,
    /// Not configured: streamable HTTP is tried first, then server-sent events.
    HttpFirst,
    /// Not configured, but with headers in `env`: server-sent events are tried first, then streamable HTTP.
    SseFirst,
}

/// Settings of a server other than its target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerDetails {
    /// Names of the tools to use; `None` means all.
    pub included: Option<Vec<String>>,
    /// Names of the tools to exclude.
    pub excluded: Vec<String>,
    /// Time limit for a call.
    pub call: Option<Duration>,
    /// Whether the time limit for a call was read as seconds.
    pub call_in_seconds: bool,
    /// Time limit for connecting.
    pub connect: Option<Duration>,
    /// Variables that the entry names, each with its position.
    pub variables: Vec<UsedVariable>,
    /// Substituted values, by variable name.
    pub filled: Vec<(String, Secret)>,
    /// The program with its arguments, or the address, as written, if the entry names variables.
    pub written: Option<String>,
    /// Why the server cannot be used: a variable has no value, or its entry has a mistake.
    pub left_out: Option<String>,
    /// The file that contains the entry.
    pub origin: EntryOrigin,
    /// Faults of the entry, such as unknown keys.
    pub notes: Vec<KeyFault>,
}

impl ServerDetails {
    /// Whether the configuration selects the tool.
    pub fn uses(&self, tool: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == tool);
        self.included.as_ref().is_none_or(|names| named(names)) && !named(&self.excluded)
    }
}
