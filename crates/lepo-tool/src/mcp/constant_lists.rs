//! Lists of tools that a conversation began with: a server that fails, or a question with tools off, does not change
//! what a model's server has in its cache.

use super::server::Server;
use super::servers::Servers;

/// Sets all servers aside, for a turn with tools off.
pub fn shelve(servers: &mut Servers) {
    servers.shelved.append(&mut servers.each);
}

/// Puts the servers back, with their known lists. None is started.
pub fn unshelve(servers: &mut Servers) {
    servers.each.append(&mut servers.shelved);
    // Nobody may call a tool, so notices about the lists would be of no use.
    for server in &mut servers.each {
        let _ = server.load_cached_list();
    }
}

/// Lists the last known tools of servers that failed, where the conversation has them already: calls have the failure as
/// their result.
pub fn use_last_lists(servers: &mut Servers, is_listed: impl Fn(&str) -> bool) {
    let had = |server: &&mut Server| is_listed(&server.config.name);
    servers.each.iter_mut().filter(had).for_each(Server::use_last_list);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StartCheck;
    use crate::mcp::ServerFolders;
    use crate::mcp::client::{ProcessSetup, ServerTimeouts, TimeLimits};
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn servers_that_are_set_aside_are_none_until_they_are_taken_back() {
        let text = r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}"#;
        let configs = crate::mcp::config::parse("m".as_ref(), text.as_bytes()).unwrap();
        let second = Duration::from_secs(1);
        let patience = ServerTimeouts { connect: second, call: TimeLimits { idle: second, total: second } };
        let setup = ProcessSetup {
            folders: ServerFolders::default(),
            check: StartCheck::default(),
            hidden_env: Vec::new(),
            sign_ins: Path::new("").into(),
            transports: None,
            starting: Default::default(),
        };
        let mut servers = Servers::new(configs, patience, setup, None);
        shelve(&mut servers);
        assert!(servers.is_empty());
        unshelve(&mut servers);
        let names: Vec<&str> = servers.each().iter().map(|server| server.config.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        use_last_lists(&mut servers, |_| true);
        assert!(servers.each().iter().all(|server| server.tools.is_empty()));
    }
}
