//! Old files are imported completely, or with a report of the rest.

use std::fs;

use super::*;

/// Imports `old` into a folder whose target contains `there`. Returns the target's text, the added entries
/// and the others.
fn import(old: &str, target: &str, there: &str) -> (String, Vec<String>, Vec<String>) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().to_str().unwrap();
    let env = Env::from_pairs(&[("HOME", folder), ("LEPO_CONFIG_HOME", folder)]);
    let paths = Paths::from_env(&env).unwrap();
    let target = home.path().join(target);
    if !there.is_empty() {
        fs::write(&target, there).unwrap();
    }
    let file = home.path().join("old.json");
    fs::write(&file, old).unwrap();
    let plan = ConfigImport::make(&paths, &file).unwrap();
    assert_eq!(plan.target, target);
    let before = fs::read_to_string(&target).unwrap_or_default();
    assert_eq!(before, there, "planning writes nothing");
    plan.apply().unwrap();
    (fs::read_to_string(&target).unwrap_or_default(), plan.added, plan.left_out)
}

const OLD: &str = r#"{
  "models": [
    {"name": "gpt-4o", "provider": "openai", "apiKey": "hush", "active": true},
    {"name": "q", "model": "qwen3:8b", "provider": "ollama", "baseUrl": "http://localhost:11434", "active": true},
    {"model": "m", "provider": "openai", "baseUrl": "localhost", "apiKey": ""},
    {"name": "x", "provider": "bard"},
    {"name": "gpt-4o", "provider": "openai"},
    {"name": "a,b", "provider": "ollama", "size": 3}
  ],
  "logLevel": "debug", "toolCallMode": "sometimes", "theme": "dark"
}"#;

#[test]
fn an_old_configuration() {
    let (text, added, left_out) = import(OLD, "config.toml", "");
    assert_eq!(
        text,
        r#"log_level = "debug"

[[models]]
name = "gpt-4o"
provider = "openai"
model = "gpt-4o"
api_key = "hush"
active = true

[[models]]
name = "q"
provider = "ollama"
model = "qwen3:8b"
base_url = "http://localhost:11434"
"#
    );
    assert_eq!(
        added,
        ["log_level = \"debug\"", "model \"gpt-4o\" (openai), with its key, active", "model \"q\" (ollama)",]
    );
    let left_out_text = left_out.join("\n");
    assert_eq!(left_out.len(), 8, "{left_out_text}");
    for words in [
        "tool_call_mode: unknown value",
        "active of model \"q\": another",
        "model 3: its baseUrl is not a URL",
        "model 4: its provider",
        "model \"gpt-4o\": already exists",
        "size of model \"a,b\"",
        "model \"a,b\": ",
        "theme: lepo has no such setting",
    ] {
        assert!(left_out_text.contains(words), "{words}\n{left_out_text}");
    }
    assert!(!left_out_text.contains("hush"));
}

#[test]
fn what_is_there_stays() {
    let there = "# mine\nlog_level = 'warn'\n[[models]]\nname = 'q'\nprovider = 'cli'\npreset = 'codex'\nactive = true\n";
    let (text, _, left_out) = import(OLD, "config.toml", there);
    assert!(text.starts_with(there));
    assert_eq!(text.matches("active").count(), 1);
    assert!(left_out.iter().any(|line| line == "log_level: already set"));
    assert!(left_out.iter().any(|line| line == "model \"q\": already exists"));
}

#[test]
fn one_model_at_the_root() {
    let old = r#"{"provider": "ollama", "model": "m", "active": true}"#;
    let (text, added, left_out) = import(old, "config.toml", "");
    assert!(text.contains("name = \"m\"") && text.contains("active = true"));
    assert_eq!((added.len(), left_out.len()), (1, 0));
}

#[test]
fn old_servers() {
    let old =
        r#"{"mcpServers": {"b": {"url": "http://h", "env": {"T": "hush"}}, "a": {"command": "x"}, "c": 3}}"#;
    let there = r#"{"mcpServers": {"a": {"command": "mine"}}, "other": 1}"#;
    let (text, added, left_out) = import(old, "mcp.json", there);
    let root: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(root["mcpServers"]["a"]["command"], "mine");
    assert_eq!(root["mcpServers"]["b"]["env"]["T"], "hush");
    assert_eq!(root["other"], 1);
    assert_eq!(added, ["server \"b\""]);
    assert_eq!(left_out, ["server \"a\": already exists", "server \"c\": not an object"]);
    let (text, ..) = import(r#"{"mcpServers": {}}"#, "mcp.json", "");
    assert_eq!(text, "", "nothing added, nothing written");
}

#[test]
fn what_cannot_be_imported() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().to_str().unwrap();
    let paths = Paths::from_env(&Env::from_pairs(&[("HOME", folder)])).unwrap();
    let file = home.path().join("old.json");
    for (text, words) in [
        (None, "no file"),
        (Some("{"), "cannot import"),
        (Some("[]"), "it has no known setting"),
        (Some("{\"a\": 1}"), "it has no known setting"),
        (Some("{\"mcpServers\": []}"), "`mcpServers` is not an object"),
    ] {
        if let Some(text) = text {
            fs::write(&file, text).unwrap();
        }
        let Err(error) = ConfigImport::make(&paths, &file) else { panic!("{words}") };
        assert_eq!(error.kind.exit_code(), 2);
        assert!(error.message.contains(words), "{}", error.message);
    }
}
