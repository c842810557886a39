//! Lists the programs of servers that are about to start, so that their files can be compared and the user asked
//! first.

use super::client::McpClient;
use super::folders::ServerFolders;
use super::server::Server;
use super::servers::Servers;
use crate::NamedProgram;

/// Returns the servers that are about to start, with their programs in these folders: all servers whose tools are
/// needed, or the named ones. For named servers, includes running ones that may load a file changed by a command.
pub fn programs_to_start(
    servers: &mut Servers,
    called: Option<&[&str]>,
    folders: &ServerFolders,
) -> Vec<(String, NamedProgram)> {
    if called.is_none() && !servers.asks_all {
        servers.load_cached_lists();
    }
    let Servers { each, setup, asks_all, .. } = servers;
    let starts = |server: &&Server| {
        let is_off = server.client.as_ref().is_none_or(McpClient::is_closed);
        let is_wanted = match called {
            Some(names) => names.contains(&server.config.name.as_str()),
            None => *asks_all || !server.is_known(),
        };
        let is_due = is_off || (called.is_some() && server.is_in_doubt(setup));
        is_due && server.failure.is_none() && !server.is_starting && is_wanted
    };
    let starting = each.iter().filter(starts);
    let program = |server: &Server| Some((server.config.name.clone(), folders.program(&server.config)?));
    starting.filter_map(program).collect()
}

/// Ends the server of this name, if it runs; its next call starts it with its current files.
pub async fn end_server(servers: &mut Servers, name: &str) {
    let server = servers.each.iter_mut().find(|server| server.config.name == name);
    if let Some(client) = server.and_then(|server| server.client.take()) {
        client.close().await;
    }
}
