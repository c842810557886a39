//! `lepo mcp ls`: lists configured servers with their sign-ins and trusted tools, from files alone.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::Context;
use crate::term::{Column, Table, print_status};
use lepo_base::error::{Error, Result};
use lepo_base::hash_file::HashFile;
use lepo_tool::mcp::Pins;
use lepo_tool::mcp::client::auth::{SignInInfo, SignInStore};
use lepo_tool::mcp::config::{ServerConfig, ServerTarget, Transport};
use lepo_turn::config::Paths;
use lepo_turn::server_folders;

/// Name, kind and status; then the facts that only some servers have.
const COLUMNS: [Column; 4] =
    [Column::WHOLE, Column::WHOLE.at_least(5), Column::WHOLE.at_least(3), Column::REST];

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
        let (signed_in, agreed) = (signed_in(server, paths)?, pins.count_agreed(server, &folders)?);
        listed.push(ListedServer { server, signed_in, agreed });
    }
    if as_json {
        context.out.document(&McpDocument { servers: listed.iter().map(McpServerRow::new).collect() });
        return Ok(0);
    }
    if listed.is_empty() {
        print_status("no MCP servers are configured; lepo-config(5) describes mcp.json");
    }
    let cells = |listed: &ListedServer<'_>| {
        [listed.server.name.clone(), kind(listed.server).to_string(), status(listed.server).to_string()]
    };
    let rows: Vec<[String; 3]> = listed.iter().map(cells).collect();
    let table = Table::new(&COLUMNS, 2, &rows, context.out.columns());
    for (ListedServer { signed_in, agreed, .. }, cells) in listed.iter().zip(&rows) {
        let agreed = agreed.map(|agreed| format!("{agreed} approved tools"));
        let facts =
            agreed.into_iter().chain(signed_in.as_ref().map(sign_in_state)).collect::<Vec<_>>().join("  ");
        context.out.line(&table.row(cells, |_| facts.clone()));
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

fn sign_in_state(signed_in: &SignInInfo) -> String {
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
