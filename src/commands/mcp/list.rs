//! `lepo mcp ls`: lists configured servers with their sign-ins and trusted tools, from files alone.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::Context;
use crate::term::{print_status, width};
use lepo_base::error::{Error, Result};
use lepo_base::hash_file::HashFile;
use lepo_tool::mcp::Pins;
use lepo_tool::mcp::client::auth::{SignInInfo, SignInStore};
use lepo_tool::mcp::config::{ServerConfig, ServerTarget, Transport};
use lepo_turn::config::Paths;
use lepo_turn::server_folders;

struct ListedServer<'s> {
    server: &'s ServerConfig,
    signed_in: Option<SignInInfo>,
    /// Number of its tools that the user trusts.
    agreed: Option<usize>,
}

/// Prints a line per server, or a JSON document.
pub fn list(servers: &[ServerConfig], paths: &Paths, as_json: bool, context: &mut Context<'_>) -> Result<u8> {
    let dir = context.find_store()?.map_or_else(|| context.new_root(), |store| store.root().to_path_buf());
    let folders = server_folders(paths, &dir);
    let pins = Pins::new(HashFile::at(paths.state.join("pins")));
    let mut listed = Vec::new();
    for server in servers {
        let (signed_in, agreed) = (signed_in(server, paths)?, pins.agreed(server, &folders)?);
        listed.push(ListedServer { server, signed_in, agreed });
    }
    if as_json {
        context.out.document(&McpDocument { servers: listed.iter().map(McpServerRow::new).collect() });
        return Ok(0);
    }
    if listed.is_empty() {
        print_status("no MCP servers are configured; lepo-config(5) describes mcp.json");
    }
    let widest = listed.iter().map(|listed| width(&listed.server.name)).max().unwrap_or_default();
    let most =
        listed.iter().map(|listed| status(listed.server).len()).max().unwrap_or_default().max("off".len());
    for ListedServer { server, signed_in, agreed } in &listed {
        let name = format!("{}{}", server.name, " ".repeat(widest - width(&server.name)));
        let status = format!("{:<most$}", status(server));
        let agreed = agreed.map(|agreed| format!("  {agreed} approved tools")).unwrap_or_default();
        let signed =
            signed_in.as_ref().map(|signed_in| format!("  {}", words(signed_in))).unwrap_or_default();
        context.out.line(format!("{name}  {:<5}  {status}{agreed}{signed}", kind(server)).trim_end());
    }
    Ok(0)
}

fn signed_in(server: &ServerConfig, paths: &Paths) -> Result<Option<SignInInfo>> {
    match &server.target {
        ServerTarget::Program { .. } => Ok(None),
        ServerTarget::Remote { .. } => sign_in_store(server, paths)?.signed_in().map_err(|error| {
            Error::store(format!("the sign-in to {} cannot be read", server.name)).because(error)
        }),
    }
}

/// Returns the status; a server that is left out does not start, even if it is enabled.
fn status(server: &ServerConfig) -> &'static str {
    match (&server.details.left_out, server.enabled) {
        (Some(_), _) => "left out",
        (None, true) => "on",
        (None, false) => "off",
    }
}

fn kind(server: &ServerConfig) -> &'static str {
    match &server.target {
        ServerTarget::Program { .. } => "stdio",
        ServerTarget::Remote { transport: Transport::Http | Transport::HttpFirst, .. } => "http",
        ServerTarget::Remote { transport: Transport::Sse | Transport::SseFirst, .. } => "sse",
    }
}

fn words(signed_in: &SignInInfo) -> String {
    match (signed_in.is_over(), signed_in.refreshes) {
        (true, _) => "the sign-in has expired".to_string(),
        (false, true) => "signed in".to_string(),
        (false, false) => "signed in, without refresh".to_string(),
    }
}

/// A single document: the configured MCP servers.
#[derive(Serialize, JsonSchema)]
pub struct McpDocument<'d> {
    servers: Vec<McpServerRow<'d>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct McpServerRow<'d> {
    name: &'d str,
    description: Option<&'d str>,
    /// stdio, http or sse.
    kind: &'static str,
    enabled: bool,
    /// Why the server is not started, although it is enabled.
    left_out: Option<&'d str>,
    signed_in: Option<SignInFields<'d>>,
    /// The number of approved tools.
    agreed: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "sign_in")]
struct SignInFields<'d> {
    issuer: Option<&'d str>,
    scopes: &'d [String],
    until: Option<u64>,
    refreshes: bool,
    over: bool,
}

impl<'d> McpServerRow<'d> {
    fn new(listed: &'d ListedServer<'d>) -> McpServerRow<'d> {
        let ListedServer { server, signed_in, agreed } = listed;
        McpServerRow {
            name: &server.name,
            description: server.description.as_deref(),
            kind: kind(server),
            enabled: server.enabled,
            left_out: server.details.left_out.as_deref(),
            signed_in: signed_in.as_ref().map(|signed_in| SignInFields {
                issuer: signed_in.issuer.as_deref(),
                scopes: &signed_in.scopes,
                until: signed_in.until,
                refreshes: signed_in.refreshes,
                over: signed_in.is_over(),
            }),
            agreed: *agreed,
        }
    }
}

/// Returns the store for a server's sign-in, which may be empty.
pub fn sign_in_store(server: &ServerConfig, paths: &Paths) -> Result<SignInStore> {
    let dir: PathBuf = paths.sign_ins();
    SignInStore::for_server(&dir, server)
        .ok_or_else(|| Error::usage(format!("server {} has no sign-in", server.name)))
}
