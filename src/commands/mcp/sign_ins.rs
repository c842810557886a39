//! Locates the stored sign-in of a server.

use std::path::PathBuf;

use lepo_base::error::{Error, Result};
use lepo_tool::mcp::client::auth::SignInStore;
use lepo_tool::mcp::config::ServerConfig;
use lepo_turn::config::Paths;

/// Returns the store for a server's sign-in, which may be empty.
pub fn sign_in_store(server: &ServerConfig, paths: &Paths) -> Result<SignInStore> {
    let dir: PathBuf = paths.sign_ins();
    SignInStore::for_server(&dir, server)
        .ok_or_else(|| Error::usage(format!("server {} has no sign-in", server.name)))
}
