//! MCP servers that an editor gives with a session, as they are read.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::failure::of_error;
use lepo_acp::agent::{Folder, GivenServer};
use lepo_acp::rpc::RpcError;
use lepo_base::error::{Error, Result};
use lepo_base::work_folder::WorkFolder;
use lepo_tool::mcp::config::{ServerConfig, Target, parse};
use lepo_tool::{NamedProgram, ProgramFiles};
use lepo_turn::config::{Paths, RepoFile, Trust, work_folder};

/// A server that an editor gives.
#[derive(Debug, Clone)]
pub struct Given {
    /// Its configuration.
    pub config: ServerConfig,
    /// Somebody agreed to this definition before, for good.
    pub is_agreed: bool,
    /// A yes for good holds in every folder.
    pub is_for_everywhere: bool,
    /// Its definition, as trust keeps it.
    pub file: RepoFile,
    /// Description of its effect.
    pub effect: String,
}

/// Reads the servers of a request.
pub fn given(folder: &Folder, paths: &Paths) -> std::result::Result<Vec<Given>, RpcError> {
    let cwd = Path::new(&folder.cwd);
    let read = |server: GivenServer| read(server, cwd, paths).map_err(|error| of_error(&error));
    folder.servers()?.into_iter().map(read).collect()
}

fn read(server: GivenServer, cwd: &Path, paths: &Paths) -> Result<Given> {
    let document = json!({ "mcpServers": { server.name.clone(): server.entry } });
    let path = PathBuf::from("editor").join("mcp.json");
    // A repository's files have absolute paths, so that nothing else is trusted under this one.
    let everywhere = RepoFile { path, bytes: document.to_string().into_bytes() };
    let config = parse(&everywhere.path, &everywhere.bytes)?.pop();
    let config = config.ok_or_else(|| Error::usage(format!("MCP server {:?} is not valid", server.name)))?;
    let effect = everywhere.effects(&[])?.join("\n");
    let is_for_everywhere = is_same_everywhere(&config, cwd);
    let file = if is_for_everywhere { everywhere } else { in_folder(everywhere, cwd)? };
    let is_agreed = Trust::of(paths).covers(&file)?;
    Ok(Given { config, is_agreed, is_for_everywhere, file, effect })
}

/// The definition as it is agreed to for one folder: the record has its path, and the identity of the repository.
fn in_folder(definition: RepoFile, cwd: &Path) -> Result<RepoFile> {
    let folder = work_folder(cwd)?;
    let bytes = [folder.identity.as_bytes(), b"\n", &definition.bytes].concat();
    Ok(RepoFile { path: folder.root.join("an editor's mcp.json"), bytes })
}

/// True if a server runs the same program wherever it starts: an absolute one, and nothing of the folder.
fn is_same_everywhere(config: &ServerConfig, cwd: &Path) -> bool {
    let Target::Program { command, args, env, cwd: own } = &config.target else { return true };
    let program = NamedProgram { env: env.clone(), ..NamedProgram::new(command, args, cwd) };
    let root = WorkFolder::read(cwd).map(|folder| folder.root).unwrap_or_else(|_| cwd.to_path_buf());
    Path::new(command).is_absolute()
        && own.as_ref().is_none_or(|own| own.is_absolute())
        && program.files(&root) == ProgramFiles::default()
}
