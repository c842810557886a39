//! Turns with tools: calls, decisions about them, skills and instructions, and secrets in what they are told.

use serde_json::{Value, json};

use super::super::stage::{A_COMMAND, Front, NO_COMMAND, Stage};
use super::super::wire::{SERVERS, Say, Wire};
use super::super::{fronts, only_do, record};
use super::{NATIVE, OFF};
use crate::disk::bubbs;
use crate::mcp::{configure, hostile};
use crate::secrets::github_token;

/// At `full`, so that no sandbox of the machine decides what is seen of it.
fn echo(text: &str) -> Value {
    json!({ "access": "full", "command": format!("echo {text} | tee -a ran") })
}

const ASKED: &str = "Run it? [y]es ";
const YES: (&str, &str) = (ASKED, "y");
const NO: (&str, &str) = (ASKED, "n");

/// The wires of models with tools of their own.
const WITH_TOOLS: &[Wire] = &[Wire::Chat, Wire::Responses, Wire::Anthropic];

#[test]
fn golden_calls_native() {
    record("calls_native", &fronts(WITH_TOOLS), |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        let (echo, hammer) = (echo("한글"), json!({"nail": 1}));
        let calls = [("run_command", &echo), ("hammer", &hammer), ("run_command", &echo)];
        stage.says([Say::calls("I will look. ", &calls), Say::text("Done."), Say::text("Again.")]);
        stage.ask_deciding("say it", &[YES], &["allow_once"]);
        stage.ask("and?");
        stage
    });
}

#[test]
fn golden_calls_refused() {
    record("calls_refused", &fronts(WITH_TOOLS), |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        let (one, two) = (echo("one"), echo("two"));
        stage.says([Say::calls("", &[("run_command", &one), ("run_command", &two)]), Say::text("Then not.")]);
        stage.says([Say::text("Again.")]);
        stage.ask_deciding("say it", &[NO], &["reject_once"]);
        stage.ask("and?");
        stage
    });
}

#[test]
fn golden_calls_of_a_server() {
    let mut casts = fronts(&[Wire::Chat, Wire::Ollama]);
    casts.extend(only_do(&[Wire::Responses, Wire::Anthropic, Wire::Program]));
    record("calls_of_a_server", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, &format!("{OFF}\ntool_call_mode = 'auto'"), "");
        configure(&stage.home, &[("s", hostile(&stage.home, "s", "plain"))]);
        let first = match stage.has_tools() {
            true => Say::call("echo", &json!({"a": "}"})),
            false => {
                let call = r#"{"server": "s", "name": "echo", "arguments": {"a": "}"}}"#;
                Say::Text(format!("I will look.\n```json\n{call}\n```\n"))
            }
        };
        stage.says([first, Say::text("Done."), Say::text("Again.")]);
        stage.ask("say it");
        stage.ask_with(&["--tools", "off"], "and?");
        stage
    });
}

#[test]
fn golden_calls_in_words() {
    record("calls_in_words", &fronts(&[Wire::Chat, Wire::Anthropic]), |(front, wire)| {
        let mut stage = Stage::new(front, wire, &format!("{OFF}\ntool_call_mode = 'auto'"), "");
        configure(&stage.home, &[("s", hostile(&stage.home, "s", "plain"))]);
        let call = |n: u8| format!(r#"{{"server":"s","name":"echo","arguments":{{"n":{n}}}}}"#);
        stage.says([Say::NoTools, Say::Text(format!("First {} then\n{} 그리고 끝.", call(1), call(2)))]);
        stage.says(["Done.", "Again."].map(Say::text));
        stage.ask("say it");
        stage.ask("and?");
        stage
    });
}

#[test]
fn golden_chooser() {
    let mut casts = fronts(SERVERS);
    casts.extend(only_do(&[Wire::Program]));
    record("chooser", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, "planner = \"chooser\"", "");
        let echo = echo("x").to_string();
        stage.says([NO_COMMAND, "One.", A_COMMAND, &echo, NO_COMMAND, "Two."].map(Say::text));
        stage.ask("hello");
        stage.ask_deciding("say it", &[YES], &["allow_once"]);
        stage
    });
}

/// Starts a turn whose call waits, and gives its id.
fn wait_for_consent(stage: &mut Stage, then: &[&str]) -> String {
    let echo = echo("x");
    match stage.has_tools() {
        true => stage.says([Say::calls("", &[("run_command", &echo)])]),
        false => stage.says([Say::text(A_COMMAND), Say::Text(echo.to_string())]),
    }
    stage.says(then.iter().map(|text| Say::text(text)));
    stage.lepo(&["do", "--no-stdin", "say it"]);
    stage.wire_files();
    if stage.front == Front::Editor {
        stage.load_newest();
    }
    bubbs(&stage.home).into_iter().find(|bubb| bubb.text.contains("\"access\"")).unwrap().id
}

#[test]
fn golden_decided_elsewhere() {
    record("decided_elsewhere", &fronts(SERVERS), |(front, wire)| {
        let planner = if wire == Wire::Ollama { "planner = 'chooser'" } else { NATIVE };
        let mut stage = Stage::new(front, wire, planner, "");
        let then: &[&str] = if stage.has_tools() { &["Done."] } else { &[NO_COMMAND, "Done."] };
        let id = wait_for_consent(&mut stage, then);
        stage.lepo(&["ls", "--pending"]);
        stage.command("/approve", &["--json", "--approve", &id]);
        stage
    });
}

#[test]
fn golden_refused_elsewhere() {
    record("refused_elsewhere", &fronts(SERVERS), |(front, wire)| {
        let planner = if wire == Wire::Ollama { "planner = 'chooser'" } else { NATIVE };
        let mut stage = Stage::new(front, wire, planner, "");
        let id = wait_for_consent(&mut stage, &["Then not."]);
        stage.command("/deny", &["--deny", &id]);
        stage
    });
}

#[test]
fn golden_edited() {
    let casts = [
        (Front::Do, Wire::Chat),
        (Front::Session, Wire::Chat),
        (Front::Do, Wire::Anthropic),
        (Front::Do, Wire::Ollama),
    ];
    record("edited", &casts, |(front, wire)| {
        let planner = if wire == Wire::Ollama { "planner = 'chooser'" } else { NATIVE };
        let mut stage = Stage::new(front, wire, planner, "");
        stage.home.write("ed", "echo 'echo edited' > \"$1\"\n");
        let echo = echo("x");
        match stage.has_tools() {
            true => stage.says([Say::call("run_command", &echo), Say::text("Done.")]),
            false => stage.says([A_COMMAND, &echo.to_string(), NO_COMMAND, "Done."].map(Say::text)),
        }
        stage.ask_deciding("say it", &[(ASKED, "e"), (ASKED, "y")], &[]);
        stage
    });
}

#[test]
fn golden_skill() {
    record("skill", &fronts(WITH_TOOLS), |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        let text = "---\nname: pdf\ndescription: Reads PDF files. 각\n---\nRun scripts/read.py.\n";
        stage.home.write(".agents/skills/pdf/SKILL.md", text);
        stage.home.write(".agents/skills/pdf/scripts/read.py", "print('read')\n");
        let asks = Say::call("skill", &json!({"name": "pdf"}));
        stage.says([asks.clone(), Say::text("Read."), Say::text("Again."), asks, Say::text("Once more.")]);
        stage.ask("read it");
        match front {
            Front::Do => stage.ask("once more"),
            _ => stage.command("/pdf read another", &[]),
        }
        stage.ask("a third");
        stage
    });
}

#[test]
fn golden_instructions() {
    let mut casts = fronts(SERVERS);
    casts.extend(only_do(&[Wire::Program]));
    record("instructions", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.shell("git init -q");
        stage.home.trust_work();
        stage.home.write("work/AGENTS.md", "Use tabs. 각\n");
        stage.says(["One.", "Two.", "Three."].map(Say::text));
        stage.ask("a");
        stage.home.write("work/AGENTS.md", "Use spaces.\n");
        stage.ask("b");
        std::fs::remove_file(stage.home.work().join("AGENTS.md")).unwrap();
        stage.ask("c");
        stage
    });
}

#[test]
fn golden_secret() {
    record("secret", &fronts(&[Wire::Chat, Wire::Anthropic]), |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        let token = github_token(1);
        let call = json!({"access": "full", "command": format!("echo {token}; echo {}", github_token(2))});
        stage.says([
            Say::Text(format!("Take {token} now.")),
            Say::call("run_command", &call),
            Say::text("Done."),
        ]);
        stage.says([Say::text("Again.")]);
        stage.ask(&format!("is {} known?", github_token(3)));
        stage.ask_deciding("say it", &[YES], &["allow_once"]);
        stage.ask("and?");
        stage
    });
}

#[test]
fn golden_secret_decided_elsewhere() {
    record("secret_decided_elsewhere", &only_do(WITH_TOOLS), |(front, wire)| {
        let mut stage = Stage::new(front, wire, NATIVE, "");
        let call = json!({"access": "full", "command": format!("echo {}", github_token(1))});
        stage.says([Say::call("run_command", &call), Say::text("Done.")]);
        stage.ask_with(&["--run", &format!("echo {}", github_token(2))], "say it");
        stage.wire_files();
        let id = bubbs(&stage.home).into_iter().find(|bubb| bubb.text.contains("\"command\"")).unwrap().id;
        stage.command("", &["--approve", &id]);
        stage
    });
}

#[test]
fn golden_own_command() {
    let casts = [(Front::Do, Wire::Chat), (Front::Session, Wire::Chat), (Front::Do, Wire::Anthropic)];
    record("own_command", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.says(["One.", "Two."].map(Say::text));
        match front {
            Front::Session => {
                stage.command("!echo out", &[]);
                stage.ask("a");
            }
            _ => stage.ask_with(&["--run", "echo out; exit 3"], "a"),
        }
        stage.ask("b");
        stage
    });
}

#[test]
fn golden_named_prompt() {
    let casts: Vec<_> = fronts(&[Wire::Chat]).into_iter().chain(only_do(&[Wire::Anthropic])).collect();
    record("named_prompt", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, OFF, "");
        stage.home.write("config/_prompts/review.md", "Review $1 as $2.\n");
        stage.says(["One.", "Two."].map(Say::text));
        match front {
            Front::Do => stage.ask_with(&["--template", "review", "--system", "Be brief."], "code"),
            _ => stage.command("/review code tests", &[]),
        }
        stage.ask("and?");
        stage
    });
}

#[test]
fn golden_served() {
    let casts = [(Front::Do, Wire::Chat), (Front::Session, Wire::Chat), (Front::Do, Wire::Anthropic)];
    record("served", &casts, |(front, wire)| {
        let mut stage = Stage::new(front, wire, &format!("{OFF}\ntool_call_mode = 'auto'"), "");
        stage.home.write("left/s/.here", "");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/offering.py");
        let args = json!([script, "plain", stage.home.path().join("left/s")]);
        configure(
            &stage.home,
            &[("s", json!({ "command": "python3", "args": args, "env": {"MY_TOKEN": "t"} }))],
        );
        stage.says(["One.", "Two."].map(Say::text));
        match front {
            Front::Do => {
                let prompt =
                    ["--prompt", "s/explain", "--arg", "topic=cats", "--context", "mcp:s/guide://start"];
                stage.ask_with(&prompt, "in short");
            }
            _ => stage.command("/s:explain cats", &[]),
        }
        stage.ask_with(&["--tools", "off"], "and?");
        stage
    });
}
