//! `--list-tools`, and what a configuration may say.

use serde_json::{Value, json};

use super::{configure, hostile, left, no_orphans};
use crate::home::{Home, run};
use crate::pty::on_terminal;

#[test]
fn servers_and_tools_are_a_table_or_a_document() {
    let home = Home::new();
    configure(&home, &[("시간", hostile(&home, "a", "plain")), ("bad", hostile(&home, "b", "exit"))]);
    let ran = home.alone(&["do", "--list-tools"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(lines[..2], ["시간  up      -", "시간  tool    echo  Says what it is told."], "{}", ran.out);
    assert!(lines[2].starts_with("bad   failed  -     it exited with code 1"), "{}", ran.out);
    assert!(ran.err.contains("warning: server bad cannot be used"), "{}", ran.err);
    let document: Value = serde_json::from_str(&home.alone(&["do", "--list-tools", "--json"]).out).unwrap();
    assert_eq!(document["servers"][0]["tools"][0]["name"], "echo");
    assert!(document["servers"][1]["error"].as_str().unwrap().contains("exited with code 1"));
    assert!(!home.work().join(".lepo").exists());
    no_orphans(&home, "a");
}

#[test]
fn a_description_that_looks_like_a_command_is_wrapped_as_others_are() {
    let home = Home::new();
    configure(&home, &[("s", hostile(&home, "s", "from-file"))]);
    let about = "$HOME, its folders and the files in all of them, as a tree.";
    home.write("left/s/tools", json!({ "one": about, "two": format!("| {about}") }).to_string());
    let mut command = home.terminal("stty cols 50 rows 24; lepo do --list-tools 2>/dev/null");
    command.env("NO_COLOR", "1");
    let shown = run(command, b"").out;
    let lines: Vec<&str> = shown.lines().map(|line| line.trim_end_matches('\r')).collect();
    assert_eq!(
        lines,
        [
            "s  up    -",
            "s  tool  one  $HOME, its folders and the files in",
            "              all of them, as a tree.",
            "s  tool  two  | $HOME, its folders and the files",
            "              in all of them, as a tree.",
        ]
    );
}

#[test]
fn a_server_that_is_off_is_not_started_and_none_is_no_failure() {
    let home = Home::new();
    assert_eq!(home.lepo(&["do", "--list-tools"]).code, 0);
    let mut server = hostile(&home, "s", "plain");
    server["enabled"] = json!(false);
    configure(&home, &[("s", server)]);
    let ran = home.lepo(&["do", "--list-tools"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(left(&home, "s", "starts").is_empty());
}

#[test]
fn none_that_can_be_started_is_a_failure() {
    let home = Home::new();
    configure(
        &home,
        &[("s", hostile(&home, "s", "exit")), ("gone", json!({ "command": "no-such-program" }))],
    );
    let ran = home.lepo(&["do", "--list-tools"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("no-such-program is not installed or not in PATH"), "{}", ran.err);
}

#[test]
fn a_mistake_names_the_server_and_the_key() {
    let home = Home::new();
    configure(&home, &[("clock", json!({ "command": "x", "enabled": "no" }))]);
    let ran = home.lepo(&["do", "--list-tools"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let warning = "warning: MCP server \"clock\" is left out: `enabled` is neither true nor false (leave the quotes out)";
    assert!(ran.err.contains(warning), "{}", ran.err);
    // In the list it has a status of its own.
    configure(
        &home,
        &[
            ("clock", json!({ "command": "x", "enabled": "no" })),
            ("off", json!({ "command": "x", "enabled": false })),
            ("ready", json!({ "command": "x" })),
            ("token", json!({ "command": "x", "args": ["${NOT_THERE}"] })),
        ],
    );
    let listed = home.ok(&["mcp"]);
    let statuses: Vec<&str> = listed.lines().map(|line| line.split_once("stdio").unwrap().1.trim()).collect();
    assert_eq!(statuses, ["left out", "off", "on", "left out"], "{listed}");
    let document: serde_json::Value = serde_json::from_str(&home.ok(&["mcp", "ls", "--json"])).unwrap();
    let why: Vec<_> =
        document["servers"].as_array().unwrap().iter().map(|one| one["left_out"].clone()).collect();
    let wrong = "`enabled` is neither true nor false (leave the quotes out)";
    assert_eq!(why, [json!(wrong), json!(null), json!(null), json!("${NOT_THERE} is not set")]);
}

#[test]
fn a_repositorys_servers_count_once_they_are_trusted_and_win_by_name() {
    let home = Home::new();
    assert_eq!(home.lepo(&["init"]).code, 0);
    configure(&home, &[("s", hostile(&home, "user", "plain"))]);
    let repo =
        json!({ "mcpServers": { "s": hostile(&home, "repo", "plain"), "r": hostile(&home, "r", "plain") } });
    home.write("work/.lepo/_mcp.json", repo.to_string());
    let ran = home.lepo(&["do", "--list-tools"]);
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.err);
    assert!(ran.err.contains("_mcp.json is ignored"), "{}", ran.err);
    assert_eq!((left(&home, "user", "starts").len(), left(&home, "repo", "starts").len()), (1, 0));
    let ran = on_terminal(home.command(&["trust"]), &[("(y/N): ", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let ran = home.lepo(&["do", "--list-tools"]);
    assert_eq!(ran.out.lines().count(), 4, "{}", ran.err);
    assert_eq!((left(&home, "user", "starts").len(), left(&home, "repo", "starts").len()), (1, 1));
}
