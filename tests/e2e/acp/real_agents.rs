//! `provider = "acp"` with agents that nobody here wrote, each asking a scripted model server: `scripts/acp-peers` fetches
//! them; skipped without.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::peers::peer;
use crate::disk::{bubbs, forest};
use crate::home::{Home, run};
use crate::pty::on_terminal;

/// A server that answers as a model would, by rule; it ends when it is dropped.
struct Rules(Child, u16);

impl Rules {
    fn start(args: &[&str]) -> Rules {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/model.py");
        let mut command = Command::new("python3");
        let mut child =
            command.arg(script).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Rules(child, line.trim().parse().unwrap())
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.1)
    }
}

impl Drop for Rules {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A home whose model is this agent.
fn home(command: &[&str]) -> Home {
    Home::with_config(&format!(
        "[[models]]\nname = \"agent\"\nprovider = \"acp\"\ncommand = {command:?}\nactive = true\n"
    ))
    .trusting()
}

/// Asks a real agent through lepo: something to say, something to do that is allowed, and something that is refused.
fn has_its_way(home: &Home, variables: &[(&str, &str)]) {
    let with = |args: &[&str]| {
        let mut command = home.command(args);
        command.envs(variables.iter().copied());
        command
    };
    let ran = run(with(&["do", "Say pear"]), b"");
    let last = ran.out.trim().lines().last().unwrap_or_default();
    assert_eq!((ran.code, last), (0, "Answer to: Say pear"), "{}{}", ran.out, ran.err);
    let ran =
        on_terminal(with(&["do", "Run the tool: echo planted > made.txt"]), &[("Allow it? [y]es", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("The tool said:"), "{}", ran.out);
    assert_eq!(home.read("work/made.txt"), "planted\n");
    let found = bubbs(home);
    let call = found.iter().find(|bubb| bubb.tag == "a1").unwrap_or_else(|| panic!("{}", forest(home)));
    assert!(call.text.contains("echo planted") && call.text.starts_with(r#"{"arguments":"#), "{}", call.text);
    assert!(found.iter().any(|bubb| bubb.tag == "t1" && bubb.prev == call.id));
    let ran = on_terminal(
        with(&["do", "-n", "Run the tool: echo planted > refused.txt"]),
        &[("Allow it? [y]es", "n\n")],
    );
    assert!(!home.work().join("refused.txt").exists(), "{}", ran.out);
    let refused = |text: &str| text.contains("refused: the user said no");
    assert!(bubbs(home).iter().any(|bubb| bubb.tag == "t1" && refused(&bubb.text)), "{}", ran.out);
}

#[test]
fn gemini_cli_answers_through_lepo() {
    let Some(program) = peer("agents/node_modules/.bin/gemini") else { return };
    let rules = Rules::start(&[]);
    let home = home(&[program.to_str().unwrap(), "--acp", "-m", "gemini-2.5-flash"]);
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } }, "privacy": { "usageStatisticsEnabled": false },
        "general": { "disableAutoUpdate": true },
    });
    home.write(".gemini/settings.json", settings.to_string());
    has_its_way(
        &home,
        &[
            ("GOOGLE_GEMINI_BASE_URL", &rules.url()),
            ("GEMINI_API_KEY", "x"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ],
    );
}

#[test]
fn claude_code_answers_through_lepo() {
    let Some(program) = peer("agents/node_modules/.bin/claude-agent-acp") else { return };
    let rules = Rules::start(&[]);
    let home = home(&[program.to_str().unwrap()]);
    // As it is, it asks the model whether to ask.
    let settings = json!({ "permissions": { "defaultMode": "default" } });
    home.write(".claude/settings.json", settings.to_string());
    has_its_way(
        &home,
        &[
            ("ANTHROPIC_BASE_URL", &rules.url()),
            ("ANTHROPIC_API_KEY", "x"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
        ],
    );
}

#[test]
fn codex_answers_through_lepo() {
    let Some(program) = peer("agents/node_modules/.bin/codex-acp") else { return };
    // A command that is to run outside of Codex' own sandbox is one to ask about.
    let rules = Rules::start(&["--escalate"]);
    let home = home(&[program.to_str().unwrap()]);
    let provider = format!(
        "[model_providers.rules]\nname = \"rules\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"RULES_KEY\"\n",
        rules.url()
    );
    home.write(".codex/config.toml", format!("model = \"mock-1\"\nmodel_provider = \"rules\"\n{provider}"));
    has_its_way(&home, &[("RULES_KEY", "x"), ("INITIAL_AGENT_MODE", "read-only")]);
}
