//! Hashes of a server's tools as the user last agreed to them. `auto` is bound to these: lepo asks again about a
//! description or a schema that has changed since.

use std::path::Path;

use super::{Server, ServerFolders, Tool};
use crate::mcp::config::{ServerConfig, ServerTarget};
use lepo_base::error::Result;
use lepo_base::hash::hash_of;
use lepo_base::hash_file::HashFile;

/// The record: a line per known server, and a line per tool as the user agreed to it.
#[derive(Debug, Clone)]
pub struct Pins {
    record: HashFile,
}

impl Pins {
    /// Uses the pins in `record`.
    pub fn new(record: HashFile) -> Pins {
        Pins { record }
    }

    /// Records a server that was never seen before, with all its tools: the user configured it.
    pub fn first_sight(&self, server: &Server) -> Result<()> {
        let identity = identity_of(server);
        if !server.is_known() || self.record.contains(&identity)? {
            return Ok(());
        }
        let name = &server.config.name;
        let mut lines = vec![format!("{identity} {name:?}")];
        lines.extend(server.tools.iter().map(|tool| line(&identity, name, tool)));
        self.record.append(&lines)
    }

    /// Whether the user has agreed to this version of the tool.
    pub fn matches(&self, server: &Server, tool: &Tool) -> Result<bool> {
        self.record.contains(&tool.hash(&identity_of(server)))
    }

    /// Counts the tools to which the user has agreed, of a server that starts in these folders; `None` if it was never
    /// seen.
    pub fn count_agreed(&self, config: &ServerConfig, folders: &ServerFolders) -> Result<Option<usize>> {
        if !self.record.contains(&identity(config, folders.identity_folder(config).as_deref()))? {
            return Ok(None);
        }
        let begin = format!("{:?} ", config.name);
        let mut tools: Vec<String> =
            self.record.texts()?.into_iter().filter(|text| text.starts_with(&begin)).collect();
        tools.sort();
        tools.dedup();
        Ok(Some(tools.len()))
    }

    /// Records that the user agrees to this version of the tool.
    pub fn record_consent(&self, server: &Server, tool: &Tool) -> Result<()> {
        match self.matches(server, tool)? {
            true => Ok(()),
            false => self.record.append(&[line(&identity_of(server), &server.config.name, tool)]),
        }
    }
}

fn line(identity: &str, server: &str, tool: &Tool) -> String {
    format!("{} {server:?} {:?}", tool.hash(identity), tool.name)
}

fn identity_of(server: &Server) -> String {
    identity(&server.config, server.folder.as_deref())
}

/// Returns the identity of a server: its name, and its address or its program and start folder.
fn identity(config: &ServerConfig, folder: Option<&Path>) -> String {
    let target = match (&config.details.written, &config.target) {
        // As written, because the values of variables may change.
        (Some(written), _) => written.clone(),
        (None, ServerTarget::Program { command, args, .. }) => format!("{command:?} {args:?}"),
        (None, ServerTarget::Remote { url, .. }) => {
            let mut address = url.clone();
            address.set_query(None);
            address.to_string()
        }
    };
    let mut parts = vec![config.name.as_bytes(), target.as_bytes()];
    parts.extend(folder.map(|folder| folder.as_os_str().as_encoded_bytes()));
    hash_of(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_process::StartFolder;

    #[test]
    fn a_server_is_what_stands_behind_its_name() {
        let id = |name: &str, fields: &str| {
            let text = format!(r#"{{"mcpServers":{{"{name}":{fields}}}}}"#);
            let config = crate::mcp::config::parse("m".as_ref(), text.as_bytes()).unwrap().remove(0);
            let own = StartFolder::trusted("/no-such-folder".as_ref());
            let folders = ServerFolders {
                work_dir: "/no-such-folder".into(),
                own_start: own,
                ..ServerFolders::default()
            };
            identity(&config, folders.identity_folder(&config).as_deref())
        };
        let program = r#"{"command":"x","args":["a","b"]}"#;
        let remote = r#"{"url":"http://h/mcp?token=1","env":{"A":"1"}}"#;
        for (first, second, same) in [
            (("s", program), ("s", r#"{"command":"x","args":["a","b"],"env":{"A":"1"}}"#), true),
            (("s", program), ("t", program), false),
            (("s", program), ("s", r#"{"command":"y","args":["a","b"]}"#), false),
            (("s", program), ("s", r#"{"command":"x","args":["a b"]}"#), false),
            (("s", program), ("s", r#"{"command":"x","args":["a","b"],"cwd":"sub"}"#), false),
            (("s", program), ("s", r#"{"command":"x","args":["a","b"],"cwd":"/no-such-folder"}"#), true),
            (("s", remote), ("s", r#"{"url":"http://h/mcp?token=2"}"#), true),
            (("s", remote), ("s", r#"{"url":"http://h2/mcp"}"#), false),
            (("s", r#"{"url":"http://${H}/m?a=${A}"}"#), ("s", r#"{"url":"http://${H}/m?a=${B}"}"#), true),
            (("s", r#"{"command":"x","args":["${A}"]}"#), ("s", r#"{"command":"x","args":["${B}"]}"#), false),
            (("s", remote), ("s", r#"{"url":"http://h/other"}"#), false),
        ] {
            assert_eq!(id(first.0, first.1) == id(second.0, second.1), same, "{first:?} {second:?}");
        }
    }
}
