//! MCP servers that an editor gives with a session, as they are read.

use std::path::PathBuf;

use serde_json::json;

use super::failure::of_error;
use lepo_acp::agent::{Folder, GivenServer};
use lepo_acp::rpc::RpcError;
use lepo_base::error::{Error, Result};
use lepo_tool::mcp::config::{ServerConfig, parse};
use lepo_turn::config::{Paths, RepoFile, Trust};

/// A server that an editor gives.
#[derive(Debug, Clone)]
pub struct Given {
    /// Its configuration.
    pub config: ServerConfig,
    /// Somebody agreed to this definition before, for good.
    pub is_agreed: bool,
    /// Its definition, as trust keeps it.
    pub file: RepoFile,
    /// Description of its effect.
    pub effect: String,
}

/// Reads the servers of a request.
pub fn given(folder: &Folder, paths: &Paths) -> std::result::Result<Vec<Given>, RpcError> {
    let read = |server: GivenServer| read(server, paths).map_err(|error| of_error(&error));
    folder.servers()?.into_iter().map(read).collect()
}

fn read(server: GivenServer, paths: &Paths) -> Result<Given> {
    // A repository's files have absolute paths, so that nothing else is trusted under this one.
    let path = PathBuf::from("editor").join("mcp.json");
    let document = json!({ "mcpServers": { server.name.clone(): server.entry } });
    let file = RepoFile { path, bytes: document.to_string().into_bytes() };
    let config = parse(&file.path, &file.bytes)?.pop();
    let config = config.ok_or_else(|| Error::usage(format!("MCP server {:?} is not valid", server.name)))?;
    let effect = file.effects(&[])?.join("\n");
    Ok(Given { config, is_agreed: Trust::of(paths).covers(&file)?, file, effect })
}
