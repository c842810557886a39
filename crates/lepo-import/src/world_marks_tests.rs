//! Tests from public reports of importers and viewers about files' formats: each row has the address of its report, and
//! an input written for it.

use super::*;
use lepo_base::hint::HintTarget;

/// Returns a file's format, or the tool that it looks like.
fn format_of(file: &str, text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(file);
    std::fs::write(&path, text).unwrap();
    match recognise(&path, &mut SourceReader::default()) {
        Ok(found) => found[0].0.as_str().to_string(),
        Err(error) => {
            assert!(error.message.ends_with("unknown format"), "{}", error.message);
            error.hint_for(HintTarget::SHELL).unwrap_or_default()
        }
    }
}

#[test]
fn a_log_is_known_when_its_first_record_is_cut() {
    let claude =
        r#"{"type":"user","uuid":"1","sessionId":"s","cwd":"/w","message":{"role":"user","content":"q"}}"#;
    for (report, first, rest, expected) in [
        // https://github.com/github/copilot-cli/issues/4098
        (
            "copilot-cli 4098",
            r#"{"role":"user","content":"ab"#,
            r#"{"role":"user","content":"3"}"#,
            "messages",
        ),
        ("the end of a record", "b\"}", r#"{"role":"user","content":"3"}"#, "messages"),
        ("a cut record of Claude Code", r#"{"type":"user","uuid":"0","mess"#, claude, "claude-code"),
    ] {
        assert_eq!(format_of("a.jsonl", &format!("{first}\n{rest}\n")), expected, "{report}");
    }
}

#[test]
fn a_format_is_known_by_its_own_marks_and_another_tools_file_is_named() {
    let of = |tool: &str| format!("it looks like a file of {tool}, which lepo cannot read");
    let is = |word: &str| word.to_string();
    for (report, file, text, expected) in [
        (
            "https://github.com/ggml-org/llama.cpp/pull/24688",
            "a.jsonl",
            "{\"type\":\"session\",\"harness\":\"llama.app\",\"id\":\"c\",\"currNode\":\"1\",\"lastModified\":1,\"name\":\"n\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"q\"}}\n",
            is("llama-ui"),
        ),
        (
            "https://github.com/ggml-org/llama.cpp/issues/11718",
            "a.json",
            r#"[{"conv":{"id":"c","name":"n","lastModified":1,"currNode":"1"},"messages":[{"role":"user","content":"q"}]}]"#,
            is("llama-ui"),
        ),
        (
            "https://github.com/kenn-io/agentsview/pull/1402",
            "session.jsonl",
            "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1786000000000,\"cwd\":\"/w\"}\n{\"type\":\"user/message\",\"seq\":1,\"time\":1,\"data\":{}}\n",
            of("DeepSeek Harness"),
        ),
        (
            "https://github.com/skillsynchq/txcript/pull/19",
            "events.jsonl",
            "{\"type\":\"assistant/message\",\"seq\":7,\"time\":1,\"data\":{\"content\":[]}}\n",
            of("DeepSeek Harness"),
        ),
        (
            "https://github.com/vshulcz/deja-vu/issues/117",
            "a.jsonl",
            "{\"uuid\":\"1\",\"parentUuid\":null,\"sessionId\":\"s\",\"type\":\"user\",\"cwd\":\"/w\",\"message\":{\"role\":\"user\",\"parts\":[{\"text\":\"q\"}]}}\n",
            of("Qwen Code"),
        ),
        (
            "https://github.com/specstoryai/getspecstory/pull/267",
            "b.jsonl",
            "{\"uuid\":\"0\",\"parentUuid\":null,\"sessionId\":\"s\",\"type\":\"system\",\"subtype\":\"ui_telemetry\",\"systemPayload\":{}}\n",
            of("Qwen Code"),
        ),
        (
            "https://github.com/Dicklesworthstone/coding_agent_session_search/issues/105",
            "session-1.json",
            r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00Z","messages":[{"id":"1","type":"user","content":"q"},{"id":"2","type":"qwen","content":"r"}]}"#,
            of("Qwen Code"),
        ),
        (
            "https://github.com/Dicklesworthstone/coding_agent_session_search/issues/105 (Kimi Code)",
            "wire.jsonl",
            "{\"type\":\"metadata\",\"protocol_version\":\"1.3\"}\n{\"timestamp\":1,\"message\":{\"type\":\"TurnBegin\",\"payload\":{}}}\n",
            of("Kimi Code"),
        ),
        (
            "https://github.com/MemPalace/mempalace/pull/232",
            "a.jsonl",
            "{\"role\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"q\"}]}}\n{\"role\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"r\"}]}}\n",
            of("Cursor"),
        ),
        (
            "https://github.com/receptron/mulmoterminal/pull/2072",
            "b.jsonl",
            "{\"type\":\"turn_ended\",\"status\":\"success\"}\n{\"role\":\"user\",\"message\":{\"content\":[]}}\n",
            of("Cursor"),
        ),
        (
            "https://github.com/chatboxai/chatbox/pull/3705",
            "a.chatbox.json",
            r#"{"version":1,"session":{"id":"s","name":"n","messages":[{"id":"1","role":"user","contentParts":[{"type":"text","text":"q"}]}]}}"#,
            of("Chatbox"),
        ),
        (
            "https://github.com/chatboxai/chatbox/issues/941",
            "chatbox.json",
            r#"{"chat-sessions-list":[{"id":"s"}],"session:s":{"messages":[]}}"#,
            of("Chatbox"),
        ),
        (
            "https://github.com/chatboxai/chatbox/issues/2443",
            "simple.json",
            r#"{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"r"}]}"#,
            is("messages"),
        ),
        (
            "Zed's threads (crates/agent of zed-industries/zed)",
            "thread.json",
            r#"{"title":"t","version":"0.3.0","updated_at":"2026-01-01T00:00:00Z","messages":[{"User":{"id":"1","content":[{"Text":"q"}]}}]}"#,
            of("Zed"),
        ),
        (
            "Zed's older threads (crates/agent of zed-industries/zed)",
            "thread.json",
            r#"{"version":"0.1.0","summary":"s","messages":[{"id":0,"role":"user","segments":[{"type":"text","text":"q"}]}]}"#,
            of("Zed"),
        ),
        (
            "Grok's export (packages of danny-avila/LibreChat)",
            "prod-grok-backend.json",
            r#"{"conversations":[{"conversation":{"id":"c"},"responses":[{"response":{"message":"q","sender":"human"}}]}]}"#,
            of("Grok"),
        ),
        (
            "DeepSeek's web export, of the form of ChatGPT's",
            "conversations.json",
            r#"[{"id":"c","title":"t","mapping":{"root":{"id":"root","children":["1"]},"1":{"id":"1","parent":"root","message":{"fragments":[{"type":"REQUEST","content":"q"}]}}}}]"#,
            of("DeepSeek's web chat"),
        ),
        (
            "https://github.com/rohitg00/agentmemory/pull/1011",
            "hermes.jsonl",
            "{\"role\":\"user\",\"content\":\"q\"}\n{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}\n",
            is("messages"),
        ),
        (
            "https://github.com/open-webui/open-webui/issues/8752",
            "tree.json",
            r#"{"messages":[{"id":"1","role":"user","content":"q","parentId":null},{"id":"2","role":"assistant","content":"r","parentId":"1"},{"id":"3","role":"assistant","content":"s","parentId":"1"}]}"#,
            is("its first record has the keys messages"),
        ),
        (
            "https://github.com/earendil-works/pi/issues/2274",
            "pi.jsonl",
            "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-08-01T10:00:00.000Z\",\"cwd\":\"/w\"}\n",
            is("pi"),
        ),
        (
            "https://github.com/hesreallyhim/awesome-claude-code/issues/1046",
            "out.jsonl",
            "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"uuid\":\"0\",\"cwd\":\"/w\",\"tools\":[]}\n{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"r\"}]},\"parent_tool_use_id\":null,\"session_id\":\"s\"}\n",
            is("claude-code"),
        ),
        (
            "https://github.com/vshulcz/deja-vu/pull/3088",
            "b7.jsonl",
            "{\"kind\":0,\"v\":{\"version\":3,\"sessionId\":\"s\",\"requests\":[]}}\n{\"kind\":2,\"k\":[\"requests\"],\"v\":[{\"requestId\":\"r\"}]}\n",
            of("Copilot"),
        ),
        (
            "https://github.com/vshulcz/deja-vu/issues/3061",
            "b8.json",
            r#"{"version":3,"responderUsername":"GitHub Copilot","requests":[{"message":{"text":"q"},"response":[]}]}"#,
            of("Copilot"),
        ),
        (
            "https://github.com/microsoft/AI-Engineering-Coach/pull/246",
            "t.jsonl",
            "{\"type\":\"session.start\",\"data\":{\"sessionId\":\"s\"},\"id\":\"1\",\"parentId\":null}\n",
            of("Copilot"),
        ),
        (
            "events that `codex exec --json` prints",
            "out.jsonl",
            "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"r\"}}\n",
            of("`codex exec --json`"),
        ),
        (
            "Codex's history.jsonl, which has the questions alone",
            "history.jsonl",
            "{\"session_id\":\"s\",\"ts\":1785578400,\"text\":\"q\"}\n",
            of("Codex's list of prompts"),
        ),
        (
            "https://github.com/anomalyco/opencode/issues/12130",
            "session.json",
            "Exporting session: ses_1{\n  \"info\": {\"id\": \"ses_1\", \"time\": {\"created\": 1}}, \"messages\": []}\n",
            is("opencode"),
        ),
        (
            "rows that `llm logs --json` prints",
            "logs.json",
            r#"[{"id":"1","model":"m","prompt":"q","response":"r","conversation_id":"c","datetime_utc":"2026-08-01T10:00:00"}]"#,
            of("`llm logs --json`"),
        ),
        (
            "https://github.com/google-gemini/gemini-cli/pull/10883",
            "out.jsonl",
            "{\"type\":\"init\",\"session_id\":\"s\",\"model\":\"m\"}\n{\"type\":\"message\",\"role\":\"user\",\"content\":\"q\"}\n",
            is("messages"),
        ),
        (
            "https://github.com/vshulcz/deja-vu/pull/341",
            "20260801_1.jsonl",
            "{\"working_dir\":\"/w\",\"description\":\"d\",\"message_count\":1}\n{\"role\":\"user\",\"created\":1785578400,\"content\":[{\"type\":\"text\",\"text\":\"q\"}]}\n",
            is("messages"),
        ),
        (
            "https://github.com/datadog-labs/trajectory/issues/78",
            "c.jsonl",
            "{\"type\":\"atis-latch\",\"atis\":\"\",\"sessionId\":\"s\"}\n{\"parentUuid\":null,\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"q\"},\"uuid\":\"1\",\"sessionId\":\"s\"}\n",
            is("claude-code"),
        ),
        (
            "the log of aider",
            ".aider.chat.history.md",
            "\n# aider chat started at 2026-08-01 10:00:00\n\n#### q\n\nr\n",
            is("it is the log of aider"),
        ),
        (
            "https://github.com/XortexAI/XMem/pull/160",
            "checkpoint.json",
            r#"{"history":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"text":"r"}]}],"authType":"x"}"#,
            is("messages"),
        ),
    ] {
        let found = format_of(file, text);
        assert!(found.starts_with(&expected) && !expected.is_empty(), "{report}\n{found}\n{expected}");
    }
}
