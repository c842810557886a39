//! MCP servers that an editor sends with a session.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::failure::rpc_error;
use lepo_acp::request::{SessionMcpServer, SessionParams};
use lepo_acp::rpc::RpcError;
use lepo_base::error::{Error, Result};
use lepo_base::work_folder::WorkFolder;
use lepo_tool::mcp::config::{ServerConfig, ServerTarget, parse};
use lepo_tool::{NamedProgram, ProgramFiles};
use lepo_turn::config::{Paths, RepoFile, Trust, work_folder};

#[derive(Debug, Clone)]
pub struct EditorServer {
    pub config: ServerConfig,
    /// Whether the user approved this definition before, permanently.
    pub is_agreed: bool,
    /// Whether a permanent approval is valid in every folder.
    pub is_for_everywhere: bool,
    /// The definition, as the trust record stores it.
    pub file: RepoFile,
    pub effect: String,
}

pub fn read_editor_servers(
    folder: &SessionParams,
    paths: &Paths,
) -> std::result::Result<Vec<EditorServer>, RpcError> {
    let cwd = Path::new(&folder.cwd);
    let read = |server: SessionMcpServer| read(server, cwd, paths).map_err(|error| rpc_error(&error));
    folder.servers()?.into_iter().map(read).collect()
}

fn read(server: SessionMcpServer, cwd: &Path, paths: &Paths) -> Result<EditorServer> {
    let document = json!({ "mcpServers": { server.name.clone(): server.entry } });
    let path = PathBuf::from("editor").join("mcp.json");
    // A repository's files have absolute paths, so a trust record of this relative path matches nothing else.
    let everywhere = RepoFile { path, bytes: document.to_string().into_bytes() };
    let config = parse(&everywhere.path, &everywhere.bytes)?.pop();
    let config = config.ok_or_else(|| Error::usage(format!("MCP server {:?} is not valid", server.name)))?;
    let effect = everywhere.effects(&[])?.join("\n");
    let is_for_everywhere = is_same_everywhere(&config, cwd);
    let file = if is_for_everywhere { everywhere } else { in_folder(everywhere, cwd)? };
    let is_agreed = Trust::new(paths).covers(&file)?;
    Ok(EditorServer { config, is_agreed, is_for_everywhere, file, effect })
}

/// Binds the definition to one folder: its trust record has the folder's path, and the identity of the repository.
fn in_folder(definition: RepoFile, cwd: &Path) -> Result<RepoFile> {
    let folder = work_folder(cwd)?;
    let bytes = [folder.identity.as_bytes(), b"\n", &definition.bytes].concat();
    Ok(RepoFile { path: folder.root.join("an editor's mcp.json"), bytes })
}

/// Whether a server runs the same program in every folder: its path is absolute, and nothing else comes from the
/// folder.
fn is_same_everywhere(config: &ServerConfig, cwd: &Path) -> bool {
    let ServerTarget::Program { command, args, env, cwd: own_cwd } = &config.target else { return true };
    let program = NamedProgram { env: env.clone(), ..NamedProgram::new(command, args, cwd) };
    let root = WorkFolder::read(cwd).map(|folder| folder.root).unwrap_or_else(|_| cwd.to_path_buf());
    Path::new(command).is_absolute()
        && own_cwd.as_ref().is_none_or(|path| path.is_absolute())
        && program.files(&root) == ProgramFiles::default()
}
