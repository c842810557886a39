//! Files, environment and flags as input; settings, a model or the right message as output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::source::SettingSource;
use super::*;
use lepo_base::env::Env;
use lepo_base::secret::Secret;
use lepo_model::{AnswerFormat, Planner, Provider};
use lepo_tool::{AutoAccess, ToolMode};

mod ambient;
mod choosing;
mod editing;
mod importing;
mod insts;
mod mistakes;
mod wrong_values;

type Vars<'a> = &'a [(&'a str, &'a str)];

/// Loads settings from a user's file, a trusted repository's, the environment and flags.
fn load(user: &str, repo: &str, env: Vars, flags: &Flags) -> lepo_base::error::Result<Settings> {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().to_str().unwrap();
    let mut env = env.to_vec();
    env.extend([("HOME", folder), ("LEPO_CONFIG_HOME", folder)]);
    let env = Env::from_pairs(&env);
    let paths = Paths::from_env(&env).unwrap();
    std::fs::write(paths.config_file(), user).unwrap();
    let repo = (!repo.is_empty()).then(|| (PathBuf::from("/r/_config.toml"), repo.as_bytes().to_vec()));
    load_settings(&paths, &env, repo, flags)
}

fn user(text: &str) -> Settings {
    load(text, "", &[], &Flags::default()).unwrap()
}

#[test]
fn every_key_of_the_manual() {
    let settings = user(
        r#"
log_level = "debug"
tool_call_mode = "auto"
auto_access = "write"
planner = "native"
max_rounds = 3
command_timeout = 0.5
output_limit = 10_000

[[models]]
name = "gpt"
provider = "openai"
model = "gpt-4o"
api_key = "sk-1"
active = true
system = "first"

[[models]]
name = "qwen"
provider = "ollama"
model = "qwen3:8b"
base_url = "http://localhost:11434/"

[[models]]
name = "claude"
provider = "cli"
command = ["claude", "-p", "{prompt}"]
answer = "json:/result"

[[models]]
name = "codex"
provider = "cli"
preset = "codex"

[[models]]
name = "small"
provider = "embedded"

[http]
connect_timeout = 1
idle_timeout = 2

[mcp]
connect_timeout = 3
idle_timeout = 4
total_timeout = 5

[sandbox]
read_only = ["/opt/tools", "~/.deno"]

[many]
orchestrator = "claude"
participants = ["claude", "codex"]
max_rounds = 4
timeout = 30
"#,
    );
    assert_eq!(settings.log_level, LogLevel::Debug);
    assert_eq!(settings.tool_call_mode, ToolMode::Auto);
    assert_eq!(settings.auto_access, AutoAccess::Write);
    assert_eq!((settings.max_rounds.get(), settings.output_limit.get()), (3, 10_000));
    assert_eq!(settings.command_timeout, Duration::from_millis(500));
    let seconds = [
        settings.http_connect,
        settings.http_idle,
        settings.mcp_connect,
        settings.mcp_idle,
        settings.mcp_total,
    ];
    assert_eq!(seconds.map(|time| time.as_secs()), [1, 2, 3, 4, 5]);
    assert_eq!(settings.sandbox_read_only[0], Path::new("/opt/tools"));
    assert!(settings.sandbox_read_only[1].is_absolute());
    assert_eq!(settings.many_orchestrator.as_deref(), Some("claude"));
    assert_eq!((settings.many_rounds.get(), settings.many_timeout.as_secs()), (4, 30));

    let [gpt, qwen, claude, codex, small] = settings.models.as_slice() else { panic!() };
    assert_eq!(gpt.base_url, "https://api.openai.com/v1");
    assert_eq!(gpt.key.value.as_ref().map(Secret::reveal), Some("sk-1"));
    assert!(gpt.is_active && gpt.system_first);
    assert_eq!(qwen.base_url, "http://localhost:11434");
    assert_eq!(claude.answer, AnswerFormat::Json("/result".into()));
    assert_eq!(codex.answer, AnswerFormat::AgentMessage);
    assert_eq!(codex.command[..2], ["codex", "exec"]);
    assert_eq!(small.provider, Provider::Embedded);
    assert_eq!(settings.planner_or(Planner::Off), Planner::Native);
}

#[test]
fn defaults() {
    let settings = user("");
    assert_eq!((settings.max_rounds.get(), settings.output_limit.get()), (8, 50_000));
    assert_eq!(settings.command_timeout.as_secs(), 120);
    assert_eq!(settings.log_level, LogLevel::Info);
    assert_eq!(settings.tool_call_mode, ToolMode::Manual);
    assert_eq!(settings.source("max_rounds"), &SettingSource::Default);
    assert_eq!(settings.planner_or(Planner::Off), Planner::Off);
    assert_eq!(settings.planner, Planner::Auto);
    assert_eq!(settings.planner_or(Planner::Native), Planner::Native);
    assert_eq!(settings.planner_or(Planner::Chooser), Planner::Chooser);
    assert_eq!(user("planner = 'chooser'").planner_or(Planner::Native), Planner::Chooser);
    assert_eq!(user("planner = 'auto'").planner_or(Planner::Off), Planner::Off);
}

#[test]
fn what_is_said_later_wins_and_is_named() {
    let user = "max_rounds = 1";
    let repo = "\nmax_rounds = 2";
    let env = [("LEPO_MAX_ROUNDS", "3"), ("LEPO_TOOL_CALL_MODE", "auto")];
    let flags = Flags { tools: Some(ToolMode::Off), ..Flags::default() };
    let table: [(&str, Vars, u32, &str); 3] = [
        ("", &[], 1, "config.toml:1"),
        (repo, &[], 2, "/r/_config.toml:2"),
        (repo, &env, 3, "LEPO_MAX_ROUNDS"),
    ];
    for (repo, env, rounds, source) in table {
        let settings = load(user, repo, env, &Flags::default()).unwrap();
        assert_eq!(settings.max_rounds.get(), rounds);
        assert!(settings.source("max_rounds").to_string().ends_with(source));
    }
    let settings = load(user, repo, &env, &flags).unwrap();
    assert_eq!(settings.tool_call_mode, ToolMode::Off);
    assert_eq!(settings.source("tool_call_mode"), &SettingSource::Flag("--tools"));
    assert_eq!(settings.planner_or(Planner::Native), Planner::Off);
}

#[test]
fn a_trusted_file_adds_models_and_wins_by_name() {
    let model = |name: &str, url: &str, active: bool| {
        format!(
            "[[models]]\nname='{name}'\nprovider='ollama'\nmodel='m'\nbase_url='http://{url}'\nactive={active}\n"
        )
    };
    let user = model("a", "user", true) + &model("b", "user", false);
    // repository, then each model: name, host, active
    let table = [
        (model("c", "repo", false), vec![("a", "user", true), ("b", "user", false), ("c", "repo", false)]),
        (model("a", "repo", false), vec![("a", "repo", true), ("b", "user", false)]),
        (model("b", "repo", true), vec![("a", "user", false), ("b", "repo", true)]),
    ];
    for (repo, wanted) in table {
        let settings = load(&user, &repo, &[], &Flags::default()).unwrap();
        let got: Vec<_> = settings
            .models
            .iter()
            .map(|model| (model.name.as_str(), model.base_url.trim_start_matches("http://"), model.is_active))
            .collect();
        assert_eq!(got, wanted);
    }
}
