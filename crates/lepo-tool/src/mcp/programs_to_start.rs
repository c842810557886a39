//! The programs of servers that are about to start: their files are compared, and asked about, before they do.

use super::client::Client;
use super::folders::ServerFolders;
use super::server::Server;
use super::servers::Servers;
use crate::NamedProgram;

/// The servers that are about to start, each with its program as it starts in these folders: those that are asked for their
/// tools, or those of these names.
pub fn programs_to_start(
    servers: &mut Servers,
    called: Option<&[&str]>,
    folders: &ServerFolders,
) -> Vec<(String, NamedProgram)> {
    if called.is_none() && !servers.asks_all {
        servers.take_kept();
    }
    let Servers { each, asks_all, .. } = servers;
    let starts = |server: &&Server| {
        let is_off = server.client.as_ref().is_none_or(Client::is_closed);
        let is_wanted = match called {
            Some(names) => names.contains(&server.config.name.as_str()),
            None => *asks_all || !server.is_known(),
        };
        is_off && server.failed.is_none() && !server.is_starting && is_wanted
    };
    let starting = each.iter().filter(starts);
    let program = |server: &Server| Some((server.config.name.clone(), folders.program(&server.config)?));
    starting.filter_map(program).collect()
}
