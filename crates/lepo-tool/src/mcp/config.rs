//! `mcp.json`: the MCP servers, in the `mcpServers` form that other clients read too, checked to the
//! last key. A mistake names the server and the key, and never a value, which may be a secret.

mod identity;
mod remote;
mod twice;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use url::Url;

use lepo_base::error::{Error, Result};
use lepo_base::record::read_if_there;
use lepo_base::secret::Secret;

pub use identity::ClientIdentity;
use remote::{address, check_header};
use twice::told_twice;

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
}

/// The place of a server: a program or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A program of this machine, which is spoken to on its stdin and stdout.
    Program {
        /// The program.
        command: String,
        /// Arguments of the program, verbatim: no shell ever sees them.
        args: Vec<String>,
        /// Variables added to its environment.
        env: Vec<(String, Secret)>,
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
}

/// Fields that other clients know; they say nothing about what a server is.
const FOREIGN: &[&str] = &[
    "alwaysAllow",
    "autoApprove",
    "cwd",
    "envFile",
    "excludeTools",
    "gallery",
    "icon",
    "id",
    "includeTools",
    "metadata",
    "note",
    "notes",
    "oauth",
    "timeout",
    "tools",
    "trust",
    "version",
];

/// The servers of the user's `file` that are on.
pub fn servers(file: &Path, repo: Option<(PathBuf, Vec<u8>)>) -> Result<Vec<ServerConfig>> {
    let mut servers = all_servers(file, repo)?;
    servers.retain(|server| server.enabled);
    Ok(servers)
}

/// All servers: those of the user's `file`, and a trusted repository's over them. A server of a name that both have is
/// the repository's.
pub fn all_servers(file: &Path, repo: Option<(PathBuf, Vec<u8>)>) -> Result<Vec<ServerConfig>> {
    let mut servers = match read_if_there(file)? {
        Some(bytes) => parse(file, &bytes)?,
        None => Vec::new(),
    };
    if let Some((path, bytes)) = repo {
        let theirs = parse(&path, &bytes)?;
        servers.retain(|server| theirs.iter().all(|other| other.name != server.name));
        servers.extend(theirs);
    }
    Ok(servers)
}

/// Reads a file's text; `path` is what mistakes are reported against (exit 2).
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<ServerConfig>> {
    let wrong = |what: &str| {
        Error::usage(format!("{}: {what}", path.display()))
            .hint("it is to hold {\"mcpServers\": {\"NAME\": {\"command\": …} or {\"url\": …}}}")
    };
    let document: Value =
        serde_json::from_slice(bytes).map_err(|error| wrong("not valid JSON").because(error))?;
    if let Some((what, hint)) = told_twice(bytes) {
        return Err(Error::usage(format!("{}: {what}", path.display())).hint(hint));
    }
    let servers = document.get("mcpServers").ok_or_else(|| wrong("no `mcpServers`"))?;
    let servers = servers.as_object().ok_or_else(|| wrong("`mcpServers` is not an object"))?;
    servers
        .iter()
        .map(|(name, fields)| {
            read(name, fields).map_err(|mistake| {
                Error::usage(format!("{}: server {name:?}: {}", path.display(), mistake.what))
                    .hint(mistake.hint)
            })
        })
        .collect()
}

/// A mistake in a server, and what is allowed.
pub(super) struct Mistake {
    what: String,
    hint: &'static str,
}

pub(super) fn mistake<T>(what: impl Into<String>, hint: &'static str) -> std::result::Result<T, Mistake> {
    Err(Mistake { what: what.into(), hint })
}

fn read(name: &str, fields: &Value) -> std::result::Result<ServerConfig, Mistake> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return mistake("it needs a name without control characters", "rename it");
    }
    let Value::Object(fields) = fields else {
        return mistake("it is not an object", "it is {\"command\": …} or {\"url\": …}");
    };
    let fields = Fields(fields);
    fields.known()?;
    let (command, url) = (fields.text("command")?, fields.text("url")?);
    let (kind, args) = (fields.kind()?, fields.texts("args")?);
    let target = match (command, url) {
        (Some(_), Some(_)) => return mistake("it has both `command` and `url`", "leave one of them out"),
        (None, None) => return mistake("it has neither `command` nor `url`", "give it one of them"),
        (Some(command), None) if kind.is_none_or(|kind| kind == Kind::Stdio) => {
            let env = fields.secrets("env")?;
            if let Some((key, _)) = env.iter().find(|(key, _)| key.is_empty() || key.contains(['=', '\0'])) {
                return mistake(format!("`env` has a name that is none: {key:?}"), "a name has no `=`");
            }
            Target::Program { command: command.to_string(), args, env }
        }
        (Some(_), None) => return mistake("`transport` is for a `url`", "leave it out beside `command`"),
        (None, Some(url)) => {
            let url = address(url)?;
            let transport = match kind {
                Some(Kind::Remote(transport)) => transport,
                Some(Kind::Stdio) => return mistake("`type` stdio is for a `command`", "use sse or http"),
                None => Transport::Sse,
            };
            let mut headers = Vec::new();
            for key in ["env", "headers"] {
                for (name, value) in fields.secrets(key)? {
                    check_header(key, &name, value.reveal())?;
                    headers.push((name, value));
                }
            }
            Target::Remote { url, transport, headers, identity: Box::new(fields.identity()?) }
        }
    };
    let enabled = fields.flag("enabled")?.unwrap_or(true) && !fields.flag("disabled")?.unwrap_or(false);
    let description = fields.text("description")?.map(str::to_string);
    Ok(ServerConfig { name: name.to_string(), description, enabled, target })
}

/// The words of `transport` and `type`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Stdio,
    Remote(Transport),
}

struct Fields<'f>(&'f Map<String, Value>);

const OWN: &[&str] = &[
    "description",
    "enabled",
    "command",
    "args",
    "env",
    "url",
    "transport",
    "type",
    "headers",
    "disabled",
    "client_id",
    "client_secret",
    "client_metadata_url",
];

impl Fields<'_> {
    fn known(&self) -> std::result::Result<(), Mistake> {
        match self.0.keys().find(|key| !OWN.contains(&key.as_str()) && !FOREIGN.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => mistake(format!("key {key:?} is not known"), "lepo-config(5) lists the keys"),
        }
    }

    fn text(&self, key: &str) -> std::result::Result<Option<&str>, Mistake> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if key == "description" || !text.trim().is_empty() => Ok(Some(text)),
            Some(Value::String(_)) => mistake(format!("`{key}` is empty"), "leave it out, or say what it is"),
            Some(_) => mistake(format!("`{key}` is not a text"), "put it in quotes"),
        }
    }

    fn texts(&self, key: &str) -> std::result::Result<Vec<String>, Mistake> {
        let wrong =
            || mistake(format!("`{key}` is not a list of texts"), "it is like [\"-y\", \"a-server\"]");
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().filter(|text| !text.contains('\0')).map(str::to_string))
                .collect::<Option<_>>()
                .map_or_else(wrong, Ok),
            Some(_) => wrong(),
        }
    }

    fn flag(&self, key: &str) -> std::result::Result<Option<bool>, Mistake> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => mistake(format!("`{key}` is neither true nor false"), "leave the quotes out"),
        }
    }

    fn identity(&self) -> std::result::Result<ClientIdentity, Mistake> {
        let (id, secret) = (self.text("client_id")?, self.text("client_secret")?);
        ClientIdentity::read(id, secret, self.text("client_metadata_url")?)
            .or_else(|(what, hint)| mistake(what, hint))
    }

    fn secrets(&self, key: &str) -> std::result::Result<Vec<(String, Secret)>, Mistake> {
        let object = match self.0.get(key) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(object)) => object,
            Some(_) => {
                return mistake(format!("`{key}` is not an object"), "it is like {\"NAME\": \"value\"}");
            }
        };
        let read = |(name, value): (&String, &Value)| match value.as_str().filter(|text| !text.contains('\0'))
        {
            Some(text) => Ok((name.clone(), Secret::new(text))),
            None => mistake(format!("`{key}`: the value of {name:?} is not a text"), "put it in quotes"),
        };
        object.iter().map(read).collect()
    }

    fn kind(&self) -> std::result::Result<Option<Kind>, Mistake> {
        let transport = match self.text("transport")? {
            None => None,
            Some("sse") => Some(Kind::Remote(Transport::Sse)),
            Some("http") => Some(Kind::Remote(Transport::Http)),
            Some(_) => return mistake("`transport` is neither sse nor http", "say \"sse\" or \"http\""),
        };
        let other = match self.text("type")? {
            None => None,
            Some("stdio" | "local") => Some(Kind::Stdio),
            Some("sse") => Some(Kind::Remote(Transport::Sse)),
            Some("http" | "streamable-http" | "streamableHttp" | "remote") => {
                Some(Kind::Remote(Transport::Http))
            }
            Some(_) => return mistake("`type` is none of stdio, sse and http", "leave it out"),
        };
        match (transport, other) {
            (Some(a), Some(b)) if a != b => mistake("`transport` and `type` differ", "leave one of them out"),
            _ => Ok(transport.or(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(fields: &str) -> std::result::Result<ServerConfig, String> {
        let text = format!(r#"{{"mcpServers":{{"s":{fields}}},"inputs":[]}}"#);
        match parse(Path::new("mcp.json"), text.as_bytes()) {
            Ok(mut servers) => Ok(servers.remove(0)),
            Err(error) => Err(error.message),
        }
    }

    fn remote(server: &ServerConfig) -> (Transport, Vec<&str>) {
        match &server.target {
            Target::Remote { transport, headers, .. } => {
                (*transport, headers.iter().map(|(name, _)| name.as_str()).collect())
            }
            Target::Program { .. } => panic!("{server:?}"),
        }
    }

    #[test]
    fn every_form_of_a_server() {
        let server = one(r#"{"command":"npx","args":["-y","x"],"env":{"A":"1"},"description":"d"}"#).unwrap();
        let env = vec![("A".to_string(), Secret::new("1"))];
        let args = vec!["-y".to_string(), "x".to_string()];
        assert_eq!(server.target, Target::Program { command: "npx".into(), args, env });
        assert!(server.enabled);
        for (fields, transport, headers) in [
            (r#"{"url":"http://h/sse"}"#, Transport::Sse, vec![]),
            (
                r#"{"url":"http://h/mcp","transport":"http","env":{"X-Key":"k"}}"#,
                Transport::Http,
                vec!["X-Key"],
            ),
            (
                r#"{"url":"http://h","type":"streamable-http","headers":{"Authorization":"k"}}"#,
                Transport::Http,
                vec!["Authorization"],
            ),
        ] {
            assert_eq!(remote(&one(fields).unwrap()), (transport, headers), "{fields}");
        }
        for (fields, enabled) in [
            (r#"{"command":"x","enabled":false}"#, false),
            (r#"{"command":"x","disabled":true}"#, false),
            (r#"{"command":"x","disabled":false,"timeout":5,"type":"stdio","autoApprove":[]}"#, true),
        ] {
            assert_eq!(one(fields).unwrap().enabled, enabled, "{fields}");
        }
    }

    #[test]
    fn a_mistake_names_the_server_and_the_key_and_no_value() {
        for (fields, what) in [
            (r#"{}"#, "it has neither `command` nor `url`"),
            (r#"{"command":"x","url":"http://h"}"#, "it has both `command` and `url`"),
            (r#"{"comand":"x"}"#, "key \"comand\" is not known"),
            (r#"{"command":""}"#, "`command` is empty"),
            (r#"{"command":1}"#, "`command` is not a text"),
            (r#"{"command":"x","args":"y"}"#, "`args` is not a list of texts"),
            (r#"{"command":"x","env":{"A":1}}"#, "`env`: the value of \"A\" is not a text"),
            (r#"{"command":"x","enabled":"no"}"#, "`enabled` is neither true nor false"),
            (r#"{"command":"x","transport":"http"}"#, "`transport` is for a `url`"),
            (r#"{"url":"http://h","transport":"ws"}"#, "`transport` is neither sse nor http"),
            (r#"{"url":"http://h","transport":"sse","type":"http"}"#, "`transport` and `type` differ"),
            (r#"{"url":"ftp://h"}"#, "`url` is neither http nor https"),
            (r#"{"url":"h"}"#, "`url` is not an address"),
            (r#"{"url":"http://h","env":{"a b":"1"}}"#, "`env`: \"a b\" cannot be the name of a header"),
            (
                r#"{"url":"http://h","env":{"X":"s3cret\n"}}"#,
                "`env`: the value of \"X\" cannot be sent as a header",
            ),
            (
                r#"{"url":"http://h","headers":{"Mcp-Session-Id":"1"}}"#,
                "`headers`: the header \"Mcp-Session-Id\" belongs to the protocol",
            ),
            ("[]", "it is not an object"),
        ] {
            assert_eq!(one(fields).unwrap_err(), format!("mcp.json: server \"s\": {what}"), "{fields}");
        }
        let twice = r#"{"mcpServers":{"s":{"command":"a"},"s":{"command":"b"}}}"#;
        let error = parse(Path::new("mcp.json"), twice.as_bytes()).unwrap_err();
        assert_eq!(
            (error.message.as_str(), error.kind.exit_code()),
            ("mcp.json: server \"s\" is there twice", 2)
        );
        for text in ["", "{}", r#"{"mcpServers":[]}"#] {
            assert_eq!(parse(Path::new("m"), text.as_bytes()).unwrap_err().kind.exit_code(), 2, "{text}");
        }
    }
}
