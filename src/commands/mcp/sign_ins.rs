//! The place of the sign-in to a server.

use std::path::PathBuf;

use lepo_base::error::{Error, Result};
use lepo_tool::mcp::client::auth::SignInStore;
use lepo_tool::mcp::config::ServerConfig;
use lepo_turn::config::Paths;

/// The sign-in to a server, whether there is one or not.
pub fn sign_in_store(server: &ServerConfig, paths: &Paths) -> Result<SignInStore> {
    let dir: PathBuf = paths.sign_ins();
    SignInStore::of(&dir, server)
        .ok_or_else(|| Error::usage(format!("server {} has no sign-in", server.name)))
}
