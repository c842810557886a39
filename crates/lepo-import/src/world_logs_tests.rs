//! Tests from public reports about the logs of Codex and Claude Code: each row has the address of its report, and an
//! input written for it.

use super::world_tests::imported_texts;
use super::*;

/// Formats a line of Codex.
fn codex(kind: &str, payload: &str) -> String {
    format!("{{\"timestamp\":\"2026-08-01T10:00:00.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
}

fn codex_item(role: &str, text: &str) -> String {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    let text = serde_json::Value::from(text);
    codex(
        "response_item",
        &format!(
            "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":{text}}}]}}"
        ),
    )
}

fn codex_event(kind: &str, text: &str) -> String {
    codex("event_msg", &format!("{{\"type\":\"{kind}\",\"message\":{}}}", serde_json::Value::from(text)))
}

fn codex_completed(kind: &str, text: &str) -> String {
    let text = serde_json::Value::from(text);
    codex(
        "event_msg",
        &format!(
            "{{\"type\":\"item_completed\",\"item\":{{\"type\":\"{kind}\",\"content\":[{{\"type\":\"Text\",\"text\":{text}}}]}}}}"
        ),
    )
}

#[test]
fn what_codex_says_in_events_alone_is_a_message_and_nothing_is_said_twice() {
    let begin =
        codex("session_meta", "{\"id\":\"s\",\"timestamp\":\"2026-08-01T10:00:00.000Z\",\"cwd\":\"/w\"}");
    let abort = codex("event_msg", "{\"type\":\"thread_rolled_back\",\"num_turns\":1}");
    for (report, lines, expected) in [
        (
            "https://github.com/pacphi/agentic-kit/issues/170",
            vec![codex_completed("UserMessage", "q"), codex_completed("AgentMessage", "r")],
            &["u q", ".a r"][..],
        ),
        (
            "https://github.com/neilberkman/ccrider/issues/7",
            vec![
                codex_item("user", "q"),
                codex_event("user_message", "q"),
                codex_event("agent_message", "r"),
                codex_item("assistant", "r"),
            ],
            &["u q", ".a r"],
        ),
        (
            "https://github.com/vectorize-io/hindsight/pull/4377",
            vec![
                codex_item("user", "<recommended_plugins>x</recommended_plugins>"),
                codex_item("user", "q"),
                codex_completed("UserMessage", "q"),
                codex_event("user_message", "q"),
                codex_item("assistant", "r"),
            ],
            &["(u <recommended_plugins>x</recommended_plugins>)", "u q", ".a r"],
        ),
        (
            "https://github.com/nick-pape/grackle/issues/536",
            vec![
                codex_event("user_message", "q"),
                codex("event_msg", r#"{"type":"item_completed","item":{"type":"agent_message","text":"r"}}"#),
            ],
            &["u q", ".a r"],
        ),
        (
            "https://github.com/furkankly/zoetrope/issues/10",
            vec![
                codex_item("user", "go on"),
                codex_event("user_message", "go on"),
                codex_item("assistant", "one"),
                codex_event("user_message", "go on"),
                codex_item("assistant", "two"),
            ],
            &["u go on", ".a one", "..u go on", "...a two"],
        ),
        (
            "https://github.com/zszz3/AgentRecall/issues/275",
            vec![
                codex_event("user_message", "q"),
                codex_item("user", "q"),
                codex(
                    "response_item",
                    r#"{"type":"custom_tool_call","name":"exec","call_id":"1","input":"pwd"}"#,
                ),
                codex(
                    "response_item",
                    r#"{"type":"custom_tool_call_output","call_id":"1","output":{"n":1}}"#,
                ),
                abort,
                codex_item("user", "other"),
            ],
            &["u q", ".(call exec pwd)", ".(t {\"n\":1})", "u other"],
        ),
        (
            "https://github.com/hzcheng/agent-pivot/pull/245",
            vec![
                codex_item("user", "<codex_internal_context source=\"goal\">x</codex_internal_context>"),
                codex_item("assistant", "r"),
            ],
            &["(u <codex_internal_context source=\"goal\">x</codex_internal_context>)", "a r"],
        ),
        (
            "https://github.com/xintaofei/codeg/issues/789",
            vec![
                codex_item("user", "# AGENTS.md instructions\n\n<INSTRUCTIONS>x</INSTRUCTIONS>"),
                codex_event("user_message", "# AGENTS.md is too long: shorten it"),
                codex_item("assistant", "r"),
            ],
            &[
                "(u # AGENTS.md instructions\n\n<INSTRUCTIONS>x</INSTRUCTIONS>)",
                "u # AGENTS.md is too long: shorten it",
                ".a r",
            ],
        ),
        (
            "an event with nothing but what a program inserted",
            vec![
                codex_event("user_message", "<ide_context>x</ide_context>"),
                codex_item("user", "<ide_context>x</ide_context>"),
                codex_event("user_message", "<ide_context>y</ide_context>"),
                codex_event("user_message", "# AGENTS.md instructions are too long"),
                codex_item("assistant", "r"),
            ],
            &[
                "(u <ide_context>x</ide_context>)",
                "(u <ide_context>y</ide_context>)",
                "u # AGENTS.md instructions are too long",
                ".a r",
            ],
        ),
        (
            "parts of a record, as one text of an event",
            vec![
                codex(
                    "response_item",
                    r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<skill>x</skill>"},{"type":"input_text","text":"<ide_context>y</ide_context>"}]}"#,
                ),
                codex_event("user_message", "<skill>x</skill>\n<ide_context>y</ide_context>"),
                codex_item("assistant", "r"),
            ],
            &["(u <skill>x</skill>)", "(u <ide_context>y</ide_context>)", "a r"],
        ),
        (
            "Codex in an editor",
            vec![codex_item(
                "user",
                "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nfix it\n",
            )],
            &[
                "(u # Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:)",
                "u fix it",
            ],
        ),
        (
            "https://github.com/openai/codex/issues/40111",
            vec![
                codex(
                    "response_item",
                    r#"{"type":"image_generation_call","id":"i","result":"iVBORw0KGgo="}"#,
                ),
                codex(
                    "response_item",
                    r#"{"type":"tool_search_call","call_id":"2","arguments":{"query":"x"}}"#,
                ),
                codex(
                    "response_item",
                    r#"{"type":"tool_search_output","call_id":"2","tools":[{"name":"y"}]}"#,
                ),
                codex("inter_agent_communication_metadata", r#"{"trigger_turn":true}"#),
            ],
            &["a  []", ".(call tool_search {\"query\":\"x\"})", ".(t {\"name\":\"y\"})"],
        ),
    ] {
        let text = begin.clone() + &lines.concat();
        assert_eq!(imported_texts(SourceFormat::Codex, "rollout-x.jsonl", &text), expected, "{report}");
    }
}

/// Formats a line of Claude Code: its fields before the message, the role, and the content as JSON.
fn claude(fields: &str, role: &str, content: &str) -> String {
    format!("{{\"type\":\"{role}\",{fields}\"message\":{{\"role\":\"{role}\",\"content\":{content}}}}}\n")
}

/// A question, and the call `a` for it.
fn question_and_call() -> String {
    let call = r#"[{"type":"tool_use","id":"a","name":"f","input":{}}]"#;
    claude("\"uuid\":\"1\",\"parentUuid\":null,", "user", "\"q\"")
        + &claude("\"uuid\":\"2\",\"parentUuid\":\"1\",", "assistant", call)
}

#[test]
fn claude_codes_lines_have_their_parents_and_their_speakers() {
    for (report, text, expected) in [
        (
            "https://github.com/hesreallyhim/awesome-claude-code/issues/1046",
            [
                "{\"type\":\"system\",\"subtype\":\"init\",\"uuid\":\"0\",\"session_id\":\"s\",\"cwd\":\"/w\"}\n".into(),
                claude("\"uuid\":\"1\",\"session_id\":\"s\",\"parent_tool_use_id\":null,", "user", "\"q\""),
                "{\"type\":\"stream_event\",\"uuid\":\"x\",\"session_id\":\"s\",\"event\":{}}\n".into(),
                claude(
                    "\"uuid\":\"2\",\"session_id\":\"s\",\"parent_tool_use_id\":null,",
                    "assistant",
                    r#"[{"type":"tool_use","id":"t1","name":"Task","input":{"prompt":"p"}}]"#,
                ),
                claude("\"uuid\":\"3\",\"session_id\":\"s\",\"parent_tool_use_id\":\"t1\",", "user", "\"p\""),
                claude(
                    "\"uuid\":\"4\",\"session_id\":\"s\",\"parent_tool_use_id\":\"t1\",",
                    "assistant",
                    r#"[{"type":"text","text":"inner"}]"#,
                ),
                claude(
                    "\"uuid\":\"5\",\"session_id\":\"s\",\"parent_tool_use_id\":null,",
                    "user",
                    r#"[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"done"}]}]"#,
                ),
                claude(
                    "\"uuid\":\"6\",\"session_id\":\"s\",\"parent_tool_use_id\":null,",
                    "assistant",
                    r#"[{"type":"text","text":"r"}]"#,
                ),
                "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"r\",\"session_id\":\"s\"}\n".into(),
            ]
            .concat(),
            &[
                "u q",
                ".(call Task {\"prompt\":\"p\"})",
                ".(u' p)",
                ".(a' inner)",
                ".(t done)",
                ".a r",
            ][..],
        ),
        (
            "https://github.com/codemie-ai/codemie-code/pull/350",
            [
                claude("\"uuid\":\"A\",\"parentUuid\":null,\"timestamp\":\"2026-06-11T10:00:00.000Z\",", "user", "\"q\""),
                claude("\"uuid\":\"A\",\"parentUuid\":null,\"timestamp\":\"2026-06-11T10:00:05.000Z\",", "user", "\"q\""),
                claude("\"uuid\":\"B\",\"parentUuid\":\"A\",", "assistant", r#"[{"type":"text","text":"r"}]"#),
            ]
            .concat(),
            &["u q", ".a r"],
        ),
        (
            "https://github.com/garrytan/gbrain/issues/5117",
            [
                claude("\"uuid\":\"1\",\"parentUuid\":null,\"isMeta\":true,\"origin\":{\"kind\":\"human\"},", "user", "\"meta\""),
                claude("\"uuid\":\"2\",\"parentUuid\":\"1\",\"origin\":{\"kind\":\"hook\"},", "user", "\"automation\""),
                claude("\"uuid\":\"3\",\"parentUuid\":\"2\",\"origin\":{\"kind\":\"human\"},", "user", "\"q\""),
            ]
            .concat(),
            &["(u meta)", "(u automation)", "u q"],
        ),
        (
            "https://github.com/NateBJones-Projects/OB1/pull/383",
            claude(
                "\"uuid\":\"1\",\"parentUuid\":null,",
                "user",
                r#""fix it\n\n<system-reminder>be careful</system-reminder>""#,
            ),
            &["(u <system-reminder>be careful</system-reminder>)", "u fix it"],
        ),
        (
            "Claude Code: channels, team mates, diagnostics",
            claude(
                "\"uuid\":\"1\",\"parentUuid\":null,",
                "user",
                r#""<channel source=\"chat\" user=\"x\">the relay is down</channel>""#,
            ) + &claude(
                "\"uuid\":\"2\",\"parentUuid\":\"1\",",
                "user",
                r#"[{"type":"text","text":"<teammate-message teammate_id=\"a\">done</teammate-message>"}]"#,
            ) + &claude(
                "\"uuid\":\"3\",\"parentUuid\":\"2\",",
                "user",
                r#""<ide_diagnostics>[]</ide_diagnostics>\nwhat is wrong?""#,
            ),
            &[
                "(u <channel source=\"chat\" user=\"x\">the relay is down</channel>)",
                "(u <teammate-message teammate_id=\"a\">done</teammate-message>)",
                "(u <ide_diagnostics>[]</ide_diagnostics>)",
                "u what is wrong?",
            ],
        ),
        (
            "https://github.com/yigitkonur/cli-continues/pull/46",
            [
                "{\"type\":\"permission-mode\",\"permissionMode\":\"plan\",\"sessionId\":\"s\"}\n".into(),
                "{\"type\":\"attribution-snapshot\",\"messageId\":\"1\"}\n".into(),
                "{\"type\":\"bridge-session\",\"sessionId\":\"s\"}\n".into(),
                claude("\"uuid\":\"1\",\"parentUuid\":null,", "user", "\"q\""),
            ]
            .concat(),
            &["u q"],
        ),
        (
            "https://github.com/anthropics/claude-code/issues/92735",
            [
                "{\"type\":\"atis-latch\",\"atis\":\"\",\"sessionId\":\"s\"}\n".into(),
                "{\"type\":\"frame-link\",\"sessionId\":\"s\"}\n".into(),
                "{\"type\":\"artifact-comment-monitor\",\"sessionId\":\"s\"}\n".into(),
                "{\"type\":\"artifact-autoreact-ledger\",\"sessionId\":\"s\"}\n".into(),
                claude("\"uuid\":\"1\",\"parentUuid\":null,", "user", "\"q\""),
            ]
            .concat(),
            &["u q"],
        ),
        (
            "https://github.com/can1357/oh-my-pi/issues/11854",
            [
                question_and_call(),
                claude(
                    "\"uuid\":\"3\",\"parentUuid\":\"2\",",
                    "user",
                    r#"[{"type":"tool_result","tool_use_id":"a","content":"ok"},{"type":"text","text":"stop, use the other file"}]"#,
                ),
            ]
            .concat(),
            &["u q", ".(call f {})", ".(t ok)", ".u stop, use the other file"],
        ),
        (
            "https://github.com/delexw/claude-code-trace/issues/273",
            [
                question_and_call(),
                claude(
                    "\"uuid\":\"3\",\"parentUuid\":\"2\",",
                    "assistant",
                    r#"[{"type":"tool_use","id":"b","name":"f","input":{}}]"#,
                ),
                claude(
                    "\"uuid\":\"4\",\"parentUuid\":\"3\",",
                    "user",
                    r#"[{"type":"tool_result","tool_use_id":"b","content":[{"type":"tool_reference","tool_name":"x"}]}]"#,
                ),
            ]
            .concat(),
            &[
                "u q",
                ".(call f {})",
                ".(call f {})",
                ".(t {\"type\":\"tool_reference\",\"tool_name\":\"x\"})",
            ],
        ),
    ] {
        assert_eq!(imported_texts(SourceFormat::ClaudeCode, "s.jsonl", &text), expected, "{report}");
    }
}
