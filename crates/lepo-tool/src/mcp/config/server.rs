//! A configured server.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::identity::ClientIdentity;
use super::mistake::Mistake;
use super::variables::{Origin, Used};
use crate::mcp::notice::KeyFault;
use lepo_base::secret::Secret;

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

impl ServerConfig {
    /// A server whose entry has a mistake, which says what is right.
    pub(super) fn left_out(name: &str, fields: &Value, mistake: &Mistake) -> ServerConfig {
        let is_off = |key: &str, off: bool| fields.get(key).and_then(Value::as_bool) == Some(off);
        let why = format!("{} ({})", mistake.what, mistake.hint);
        let target = Target::Program { command: String::new(), args: Vec::new(), env: Vec::new(), cwd: None };
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
    /// Why the server cannot be used: a variable has no value, or its entry has a mistake.
    pub left_out: Option<String>,
    /// The file that it is in.
    pub origin: Origin,
    /// Keys that are not known or not honoured.
    pub notes: Vec<KeyFault>,
}

impl ServerDetails {
    /// True if a tool of this name is used.
    pub fn uses(&self, tool: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == tool);
        self.included.as_ref().is_none_or(|names| named(names)) && !named(&self.excluded)
    }
}
