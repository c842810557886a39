//! Finds the tool that a request means.

use std::path::Path;
use std::time::Duration;

use serde_json::Map;

use super::*;
use crate::StartCheck;
use crate::mcp::config::parse;
use lepo_base::hint::HintTarget;
use lepo_process::StartFolder;

fn servers(each: &[(&str, &[&str])]) -> Servers {
    let entries = each.iter().map(|(name, _)| format!("{name:?}:{{\"command\":\"x\"}}"));
    let text = format!("{{\"mcpServers\":{{{}}}}}", entries.collect::<Vec<_>>().join(","));
    let limit = Duration::from_secs(1);
    let patience = ServerTimeouts { connect: limit, call: TimeLimits { idle: limit, total: limit } };
    let setup = ProcessSetup {
        folders: ServerFolders::default(),
        check: StartCheck::default(),
        hidden_env: Vec::new(),
        sign_ins: Path::new("").into(),
        transports: None,
        starting: Default::default(),
    };
    let mut servers = Servers::new(parse(Path::new("m"), text.as_bytes()).unwrap(), patience, setup, None);
    for server in &mut servers.each {
        let tools = each.iter().find(|(name, _)| *name == server.config.name).unwrap().1;
        let tool =
            |name: &&str| Tool { name: (*name).into(), description: String::new(), schema: Map::new() };
        server.tools = tools.iter().map(tool).collect();
    }
    servers
}

#[test]
fn a_name_in_text_that_is_nearly_right_is_the_one_tool_it_can_mean() {
    let servers = servers(&[
        ("fs", &["read_file", "write_file", "stat"]),
        ("FS2", &["read_file"]),
        ("my-db", &["query", "Query", "run:sql"]),
    ]);
    for (server, tool, expected) in [
        ("fs", "read_file", ("fs", "read_file")),
        ("fs", "readFile", ("fs", "read_file")),
        ("fs", "Read-File", ("fs", "read_file")),
        ("fs", " `read_file()` ", ("fs", "read_file")),
        ("fs", "functions.read_file", ("fs", "read_file")),
        ("fs", "read_file<|channel|>commentary", ("fs", "read_file")),
        ("FS", "read_file", ("fs", "read_file")),
        ("fs_2", "readFile", ("FS2", "read_file")),
        ("my_db", "run_sql", ("my-db", "run:sql")),
        // The exact name wins over a similar one.
        ("my-db", "Query", ("my-db", "Query")),
        ("my-db", "query", ("my-db", "query")),
        // If two tools or none could be meant, the name stays as written, so that the answer names it.
        ("my-db", "QUERY", ("my-db", "QUERY")),
        ("fs", "readfil", ("fs", "readfil")),
        ("gs", "read_file", ("gs", "read_file")),
        ("FS2", "stat", ("FS2", "stat")),
        ("", "", ("", "")),
    ] {
        let arguments: Map<_, _> = [("path".to_string(), "x".into())].into_iter().collect();
        let request = CallRequest { server: server.into(), tool: tool.into(), arguments: arguments.clone() };
        let meant = servers.meant(request);
        assert_eq!((meant.server.as_str(), meant.tool.as_str()), expected, "{server} {tool}");
        assert_eq!(meant.arguments, arguments);
    }
}

#[tokio::test]
async fn a_server_that_fails_in_the_worktree_has_not_missed_its_files() {
    let (state, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut servers = servers(&[]);
    let text = br#"{"mcpServers":{"s":{"command":"sh","args":["-c","exit 1"]}}}"#;
    let config = parse(Path::new("m"), text).unwrap().remove(0);
    let trusted = StartFolder::trusted(work.path());
    servers.setup.folders = ServerFolders {
        work_dir: work.path().into(),
        own_start: StartFolder::empty(state.path()),
        repository: trusted,
        empty: StartFolder::empty(state.path()),
    };
    servers.each.push(Server::new(config, &servers.setup, None));
    for is_trusted in [false, true] {
        if is_trusted {
            // As of a server that ran elsewhere and is gone when the answer has come.
            servers.each[0].failure = None;
            servers.setup.folders = servers.setup.folders.once_trusted();
        }
        let error = servers.awake("s").await.err().unwrap();
        let hint = error.hint_for(HintTarget::SHELL).unwrap_or_default();
        assert_eq!(hint.contains("empty folder"), !is_trusted, "{hint}");
    }
}
