//! Participants that are programs: claude, gemini and codex, as they are asked and as they answer.

use super::json;
use crate::home::{Home, Ran, run};
use crate::providers::programs::script;

/// Output of each program, around its answer.
const CLAUDE: &str = r#"#!/bin/sh
[ "$*" = "-p --output-format json" ] || exit 9
printf '{"type":"result","subtype":"success","is_error":false,"result":"claude: %s","session_id":"x"}' "$(cat)""#;
const GEMINI: &str = r#"#!/bin/sh
[ "$*" = "-o json" ] || exit 9
printf '{\n  "response": "gemini: %s",\n  "stats": {"models": {}}\n}\n' "$(cat)""#;
const CODEX: &str = r#"#!/bin/sh
[ "$1 $2" = "exec --json" ] || exit 9
echo '{"type":"thread.started","thread_id":"x"}'
echo '{"type":"item.completed","item":{"id":"0","type":"reasoning","text":"**Thinking**"}}'
echo '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"I will look."}}'
printf '{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"codex: %s"}}\n' "$(cat)"
echo '{"type":"item.updated","item":{"id":"3","type":"todo_list","text":"not this"}}'
echo '{"type":"item.completed","item":{"id":"4","type":"reasoning","text":"nor this"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1}}'"#;

const NAMES: [&str; 3] = ["claude", "gemini", "codex"];

/// A home with all three configured, and with those of `there` installed.
fn home(there: &[(&str, &str)]) -> Home {
    let models =
        NAMES.map(|name| format!("[[models]]\nname = \"{name}\"\nprovider = \"cli\"\npreset = \"{name}\"\n"));
    let config = format!("{}[many]\nparticipants = {NAMES:?}\norchestrator = \"claude\"\n", models.concat());
    let home = Home::with_config(&config).trusting();
    std::fs::create_dir(home.path().join("bin")).unwrap();
    for (name, text) in there {
        script(&home.path().join("bin"), name, text);
    }
    home
}

/// lepo, with the home's own programs and no others of these names.
fn lepo(home: &Home, args: &[&str]) -> Ran {
    let mut command = home.command(args);
    command.env("PATH", format!("{}:/usr/bin:/bin", home.path().join("bin").display()));
    run(command, b"")
}

#[test]
fn each_is_asked_in_its_own_way_and_its_answer_found() {
    let home = home(&[("claude", CLAUDE), ("gemini", GEMINI), ("codex", CODEX)]);
    let ran = lepo(&home, &["do", "--parallel", "뭐?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out, "## claude\n\nclaude: 뭐?\n\n## gemini\n\ngemini: 뭐?\n\n## codex\n\ncodex: 뭐?\n");
}

#[test]
fn one_that_is_not_installed_is_named_and_the_others_answer() {
    let home = home(&[("gemini", GEMINI)]);
    let ran = lepo(&home, &["do", "--parallel", "q"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "## gemini\n\ngemini: q\n"));
    for name in ["claude", "codex"] {
        let says = format!("{name} failed: program {name} is not installed or not in PATH\n");
        assert!(ran.err.contains(&says), "{}", ran.err);
    }
}

#[test]
fn presets_alone_are_enough() {
    let home = home(&[("claude", CLAUDE), ("gemini", GEMINI), ("codex", CODEX)]);
    home.write("config/config.toml", format!("[many]\nparticipants = {NAMES:?}\n"));
    let ran = lepo(&home, &["do", "--parallel", "뭐?"]);
    assert_eq!(ran.out, "## claude\n\nclaude: 뭐?\n\n## gemini\n\ngemini: 뭐?\n\n## codex\n\ncodex: 뭐?\n");
    home.write("config/config.toml", "planner = 'off'\n[[models]]\npreset = \"claude\"\nactive = true\n");
    assert_eq!(lepo(&home, &["do", "-n", "뭐?"]).out, "claude: 뭐?\n");
    home.write("config/config.toml", "planner = 'off'\n[[models]]\npreset = \"claude\"\n");
    assert_eq!(lepo(&home, &["do", "-n", "-m", "claude", "뭐?"]).out, "claude: 뭐?\n");
}

#[test]
fn programs_debate() {
    let says = |name: &str, pointer: &str| {
        let reply = format!(
            r#"#!/bin/sh
prompt=$(cat)
case $prompt in
*orchestrator*"[gemini]"*) say='END: agreed' ;;
*orchestrator*) say='SELECT: gemini' ;;
*"You have the floor"*) say='{name} speaks' ;;
*) say=REQUEST ;;
esac
printf '{pointer}\n' "$say""#
        );
        reply
    };
    let claude = says("claude", r#"{"result":"%s"}"#);
    let gemini = says("gemini", r#"{"response":"%s"}"#);
    let home = home(&[("claude", &claude), ("gemini", &gemini)]);
    let ran = lepo(&home, &["do", "--debate", "--json", "q"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let document = json(&ran.out);
    assert_eq!(document["speeches"][0]["text"], "gemini speaks", "{document}");
    assert_eq!((&document["answer"]["text"], &document["rounds"]), (&"agreed".into(), &2.into()));
    assert_eq!(ran.err.matches("codex failed: program codex is not installed").count(), 2, "{}", ran.err);
}
