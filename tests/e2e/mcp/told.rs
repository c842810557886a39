//! Tools told in the prompt, and calls found in what a model says: Ollama and programs.

use super::{configure, hostile, left};
use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest};
use crate::pty::on_terminal;

const AUTO: &str = "planner = 'off'\ntool_call_mode = 'auto'";
const CALL: &str = r#"{"server": "s", "name": "echo", "arguments": {"a": "}"}}"#;
const FUNCTION_CALL: &str = include_str!("../../../crates/lepo-tool/src/mcp/function-call-block.txt");

fn ollama(mode: &str, answers: &[&str]) -> Bot {
    let bot = Bot::ollama(AUTO, answers);
    bot.home.write("config/system_prompt.txt", "PROMPT\n");
    bot.home.write_insts("general = ''");
    configure(&bot.home, &[("s", hostile(&bot.home, "s", mode))]);
    bot
}

#[test]
fn the_blocks_end_the_system_prompt_and_a_fenced_call_is_made() {
    let fenced = format!("I will look.\n```json\n{CALL}\n```\n");
    let bot = ollama("plain", &[&fenced, "Done.", "Again."]);
    let ran = bot.home.alone(&["do", "say it"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "I will look.\nDone.\n"), "{}", ran.err);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D a1 C / E t1 D / F a0 B");
    let found = bubbs(&bot.home);
    assert_eq!(found[2].text, "I will look.");
    assert_eq!(found[3].text, r#"{"arguments":{"a":"}"},"name":"echo","server":"s"}"#);

    let bodies = bot.bodies();
    let prompt = format!(
        "PROMPT\n\nFUNCTIONS:\n\n# Connected MCP Servers\n\n## s\nThese are tool name, description and input schema.\n\n\
         - **echo**: Says what it is told.\n    Input Schema:\n    {{\n      \"type\": \"object\",\n      \
         \"properties\": {{}}\n    }}\n\n{}",
        FUNCTION_CALL.trim_end()
    );
    assert_eq!(messages(&bodies[0]), [("system".into(), prompt.clone()), ("user".into(), "say it".into())]);
    assert!(bodies.iter().all(|body| body["tools"].is_null()));
    let roles: Vec<String> = messages(&bodies[1]).into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["system", "user", "assistant", "assistant", "tool"]);
    assert_eq!(messages(&bodies[1])[4].1, r#"echo {"a": "}"}"#);
    // The prompt on disk is the user's own.
    assert_eq!(found[0].text, "PROMPT\n");
    assert_eq!(bot.home.alone(&["do", "and?"]).code, 0);
    let roles: Vec<String> = messages(&bot.bodies()[2]).into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
}

#[test]
fn several_calls_run_in_order_and_the_same_one_once() {
    let call = |n: u8| format!(r#"{{"server":"s","name":"echo","arguments":{{"n":{n}}}}}"#);
    let answer = format!("First {} then {} and {} again.", call(1), call(2), call(1));
    let bot = ollama("plain", &[&answer, "Done."]);
    assert_eq!(bot.home.alone(&["do", "-q", "x"]).out, "Done.\n");
    assert_eq!(left(&bot.home, "s", "calls"), [r#"{"n": 1}"#, r#"{"n": 2}"#]);
    assert_eq!(bubbs(&bot.home)[2].text, "First\n\nthen\n\nand\n\nagain.");
}

#[test]
fn words_between_and_behind_calls_are_shown_as_they_are_kept() {
    let call = |n: u8| format!(r#"{{"server":"s","name":"echo","arguments":{{"n":{n}}}}}"#);
    let answer = format!("First {} then\n{} 그리고 끝.", call(1), call(2));
    let bot = ollama("plain", &[&answer, "Done."]);
    let ran = bot.home.alone(&["do", "x"]);
    let kept = bubbs(&bot.home)[2].text.clone();
    assert_eq!(kept, "First\n\nthen\n\n그리고 끝.");
    let shown: Vec<&str> = ran.out.lines().map(str::trim_end).collect();
    assert_eq!(shown.join("\n"), format!("{kept}\nDone."), "{}", ran.out);
}

#[test]
fn json_that_is_no_call_is_an_answer() {
    let answer = "It is {\"name\": \"x\"}, or `fn main() {}`.";
    let bot = ollama("plain", &[answer]);
    assert_eq!(bot.home.alone(&["do", "x"]).out, format!("{answer}\n"));
}

#[test]
fn an_unknown_tool_ends_tool_use() {
    let call = r#"{"server":"s","name":"hammer","arguments":{}}"#;
    let bot = ollama("plain", &[call, "Then not."]);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Then not.\n"), "{}", ran.err);
    let result = "error: there is no tool \"hammer\" of a server \"s\"; there are: \"echo\" of \"s\"";
    assert_eq!(bubbs(&bot.home)[3].text, result);
    // The beginning stays as it was, for the server's cache; the end says that no tool can be called.
    let actual = messages(&bot.bodies()[1]);
    assert_eq!(actual[0], messages(&bot.bodies()[0])[0]);
    assert!(actual.last().unwrap().1.contains("no tool can be called any more"));
}

#[test]
fn without_tools_no_block_is_sent() {
    let bot = ollama("exit", &["Hi."]);
    let ran = bot.home.alone(&["do", "x"]);
    assert_eq!(ran.out, "Hi.\n");
    assert!(
        ran.err.contains("warning: server s cannot be used") && ran.err.contains("no licence"),
        "{}",
        ran.err
    );
    assert_eq!(messages(&bot.bodies()[0])[0].1, "PROMPT\n");
}

#[test]
fn a_terminal_sees_words_at_once_and_never_the_call() {
    let bot = ollama("plain", &[&format!("I look: {CALL}"), "끝났다."]);
    let ran = on_terminal(bot.home.command(&["do", "x"]), &[]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("I look:") && ran.out.contains("끝났다."), "{}", ran.out);
    assert!(!ran.out.contains("\"arguments\""), "{}", ran.out);
}

#[test]
fn a_program_is_told_at_the_start() {
    let bot = Bot::program(AUTO, &[CALL, "Done."]);
    configure(&bot.home, &[("s", hostile(&bot.home, "s", "plain"))]);
    let ran = bot.home.alone(&["do", "say it"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    let first = bot.home.read("bot/asked.1");
    assert!(first.starts_with("[system]\nFUNCTIONS:\n") && first.ends_with("\n\n[user]\nsay it"), "{first}");
    assert!(bot.home.read("bot/asked.2").ends_with("\n\n[tool]\necho {\"a\": \"}\"}"));
}

#[test]
fn a_call_without_arguments_or_with_commas_too_many_is_a_call() {
    for call in [r#"{"server":"s","name":"echo"}"#, r#"{"server":"s","name":"echo","arguments":{},}"#] {
        let bot = ollama("plain", &[call, "Done."]);
        let ran = bot.home.alone(&["do", "x"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{call}: {}", ran.err);
        assert_eq!(left(&bot.home, "s", "calls"), ["{}"], "{call}");
        assert_eq!(bubbs(&bot.home)[2].text, r#"{"arguments":{},"name":"echo","server":"s"}"#);
    }
}
