//! Claude Code and Codex themselves, whose sessions are deleted once they are in the store: by a hook and by a watch.
//! The model answers by rule; scripts/coding-agents fetches the programs.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::archiving::{Watch, texts};
use crate::coding_agents::{CLAUDE, Model, agent, ask_with};
use crate::disk::journal;
use crate::home::{Home, until};

/// Runs, each a new session, for which nothing may be there twice. The whole count is for `LEPO_ALL_RUNS`.
fn runs() -> usize {
    if std::env::var_os("LEPO_ALL_RUNS").is_some() { 100 } else { 2 }
}

struct Agent {
    program: &'static str,
    folder: &'static str,
    args: &'static [&'static str],
}

const AGENTS: [Agent; 2] = [
    Agent { program: "claude", folder: ".claude/projects", args: &CLAUDE },
    Agent { program: "codex", folder: ".codex/sessions", args: &["exec", "--skip-git-repo-check"] },
];

fn question(run: usize) -> String {
    format!("Say pear {run}")
}

/// Runs an agent once, waits until the store has the question and its answer, and deletes the agent's logs.
fn archived(home: &Home, model: &Model, program: &Path, agent: &Agent, line: &str, run: usize) {
    let question = question(run);
    let ran = ask_with(home, model, program, &[agent.args, &["--", &question]].concat(), line);
    let answer = format!("Answer to: {question}");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(&answer), "{}{}", ran.out, ran.err);
    until(&answer, || texts(home).contains(&answer));
    fs::remove_dir_all(home.path().join(agent.folder)).unwrap();
}

/// Each visible text is there once, and the sessions are as many as the runs.
fn is_whole_and_once(home: &Home, format: &str, runs: usize) {
    let shown = texts(home);
    for run in 0..runs {
        for text in [question(run), format!("Answer to: {}", question(run))] {
            assert_eq!(shown.iter().filter(|shown| **shown == text).count(), 1, "{text}: {shown:?}");
        }
    }
    let imports: Vec<Value> = journal(home).into_iter().filter(|line| line["what"] == "import").collect();
    assert_eq!(imports.len(), runs, "{imports:?}");
    assert!(imports.iter().all(|line| line["format"] == format));
    assert_eq!(home.ok(&["fsck"]), "");
    assert_eq!(home.ok(&["undo", "--list"]), "", "only a user's commands can be taken back");
}

fn by_hook(agent_of: &Agent, format: &str) {
    let Some(program) = agent(agent_of.program) else { return };
    let (home, model) = (Home::new(), Model::start());
    home.ok(&["init"]);
    let hook = home.ok(&["import", "--hook", format]);
    let line = match format {
        "codex" => hook.trim(),
        _ => {
            home.write(".claude/settings.json", &hook);
            ""
        }
    };
    for run in 0..runs() {
        archived(&home, &model, &program, agent_of, line, run);
    }
    is_whole_and_once(&home, format, runs());
}

fn by_watch(agent_of: &Agent, format: &str) {
    let Some(program) = agent(agent_of.program) else { return };
    let (home, model) = (Home::new(), Model::start());
    home.ok(&["init"]);
    for run in 0..runs() {
        // Each run has a watch of its own: it imports nothing twice.
        let mut watch = Watch::start(&home, &[]);
        archived(&home, &model, &program, agent_of, "", run);
        assert_eq!(watch.signal("-INT"), Some(130));
    }
    is_whole_and_once(&home, format, runs());
}

#[test]
fn a_session_of_claude_code_is_whole_by_its_hook() {
    by_hook(&AGENTS[0], "claude-code");
}

#[test]
fn a_session_of_codex_is_whole_by_its_hook() {
    by_hook(&AGENTS[1], "codex");
}

#[test]
fn a_session_of_claude_code_is_whole_by_a_watch() {
    by_watch(&AGENTS[0], "claude-code");
}

#[test]
fn a_session_of_codex_is_whole_by_a_watch() {
    by_watch(&AGENTS[1], "codex");
}
