//! Errors, and events that do not concern lepo, at any position.

use serde_json::{Value, json};

use super::{ALL, CHAT, MESSAGES, OLLAMA, RESPONSES, answer, event, read};

/// Values that a field may have instead of its own.
fn odd_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(""),
        json!({}),
        json!([]),
        json!(false),
        json!(true),
        json!(0),
        json!(1.5),
        json!("x"),
    ]
}

#[test]
fn what_does_not_concern_lepo_ends_nothing() {
    let rows: Vec<(&str, String)> = vec![
        ("anomalyco/opencode/issues/38106", "event: hermes.tool.progress\ndata: {\"tool\":\"web_search\",\"status\":\"running\",\"toolCallId\":\"c\"}\n\n".into()),
        ("janhq/jan/pull/8392", "event: custom\ndata: {\"status\":\"failed\",\"message\":\"it is told apart\"}\n\n".into()),
        ("anomalyco/opencode/issues/50314", "data: null\n\n".into()),
        ("missuo/FreeGPT35/pull/29", "data: 2024-04-07 20:20:50.554328\n\n".into()),
        ("missuo/FreeGPT35/pull/29 (event)", "event: ping\ndata: ping\n\n".into()),
        ("a text", "data: \"\"\n\n".into()),
        ("a comment", ": OPENROUTER PROCESSING\n\n".into()),
        ("james-6-23/codex2api/issues/696", event(&json!({"type": "response.mcp_call_arguments.delta", "delta": {"a": 1}}))),
        ("james-6-23/codex2api/issues/696 (null)", event(&json!({"type": "response.custom.delta", "delta": null}))),
        ("lobehub/lobehub/pull/3098", event(&json!({"code": 0, "message": "Success", "choices": []}))),
        ("an empty error", event(&json!({"error": {}, "choices": []}))),
        ("no error", event(&json!({"error": null, "errors": [], "error_message": "", "status": "ok"}))),
        ("a status", event(&json!({"status": "processing", "message": "you are 3rd in the queue"}))),
        ("azure", event(&json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}))),
        ("retry", "retry: 3000\nid: 7\n\n".into()),
    ];
    for (name, between) in &rows {
        for wire in [CHAT, MESSAGES, RESPONSES] {
            assert_eq!(read(wire, answer(wire, between).as_bytes()), "Four.", "{name} on {wire}");
        }
    }
    for (name, line) in [
        ("a heartbeat", "ping\n"),
        ("an empty error", "{\"error\":\"\",\"done\":false}\n"),
        ("a message that is none", "{\"message\":null,\"done\":false}\n"),
        ("a status", "{\"status\":\"loading model\"}\n"),
        ("null", "null\n"),
        ("as events", "data: {\"message\":{\"content\":\"\"},\"done\":false}\n\n"),
    ] {
        assert_eq!(read(OLLAMA, answer(OLLAMA, line).as_bytes()), "Four.", "{name}");
    }
}

#[test]
fn a_field_of_another_form_is_as_if_it_were_not_there() {
    let fields: [&[&str]; 4] = [
        &[
            "id",
            "object",
            "usage",
            "error",
            "choices",
            "delta",
            "message",
            "content",
            "reasoning_content",
            "reasoning",
            "refusal",
            "tool_calls",
            "function_call",
            "finish_reason",
            "logprobs",
            "index",
            "role",
            "audio",
        ],
        &[
            "index",
            "usage",
            "error",
            "message",
            "content_block",
            "delta",
            "type",
            "text",
            "thinking",
            "signature",
            "partial_json",
            "citation",
            "stop_reason",
        ],
        &[
            "delta",
            "item",
            "item_id",
            "output_index",
            "response",
            "error",
            "message",
            "code",
            "annotation",
            "summary_index",
        ],
        &["message", "thinking", "done_reason", "error", "eval_count", "content", "tool_calls", "images"],
    ];
    for wire in ALL {
        for field in fields[wire] {
            for odd in odd_values() {
                // True, numbers and texts may have a meaning.
                let may_mean = matches!(odd, Value::String(ref text) if !text.is_empty())
                    || odd == true
                    || odd.is_number();
                let shapes: Vec<Value> = match wire {
                    CHAT => vec![
                        json!({*field: odd}),
                        json!({"choices": [{*field: odd}]}),
                        json!({"choices": [{"delta": {*field: odd}}]}),
                    ],
                    MESSAGES => vec![
                        json!({"type": "content_block_delta", *field: odd}),
                        json!({"type": "content_block_delta", "index": 0, "delta": {*field: odd}}),
                        json!({"type": "from_the_future", *field: odd}),
                    ],
                    RESPONSES => vec![
                        json!({"type": "response.output_text.delta", *field: odd}),
                        json!({"type": "response.from.the.future", *field: odd}),
                    ],
                    _ => vec![json!({*field: odd}), json!({"message": {*field: odd}})],
                };
                for shape in shapes {
                    let between =
                        if wire == OLLAMA { format!("{shape}\n") } else { format!("data: {shape}\n\n") };
                    let actual = read(wire, answer(wire, &between).as_bytes());
                    if may_mean {
                        assert!(actual.contains('F'), "{wire} {shape}: {actual}");
                    } else {
                        assert_eq!(actual, "Four.", "{wire} {shape}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_error_is_told_wherever_it_stands() {
    for (name, wire, stream, words) in [
        (
            "openai/openai-node/pull/2409",
            CHAT,
            "event: error\ndata: {\"message\":\"boom\",\"type\":\"server_error\"}\n\n".to_owned(),
            "boom",
        ),
        (
            "openai/openai-node/pull/2021",
            RESPONSES,
            event(&json!({"type": "error", "error": {"message": "boom"}})),
            "boom",
        ),
        (
            "withceleste/celeste-python/pull/192",
            MESSAGES,
            event(&json!({"type": "error", "error": {"type": "overloaded_error", "message": "boom"}})),
            "boom",
        ),
        (
            "ggml-org/llama.cpp/pull/16109",
            CHAT,
            "error: {\"code\":500,\"message\":\"boom\"}\n\n".to_owned(),
            "boom",
        ),
        (
            "googleapis/js-genai/issues/1973",
            CHAT,
            "{\"error\":{\"message\":\"boom\",\"code\":400}}\n".to_owned(),
            "boom",
        ),
        ("vercel/ai/issues/13506", CHAT, event(&json!({"error": {"message": "boom", "code": "X"}})), "boom"),
        (
            "genkit-ai/genkit/pull/6259",
            CHAT,
            event(
                &json!({"choices": [{"delta": {"content": ""}, "error": {"message": "boom", "code": 502}}]}),
            ),
            "boom",
        ),
        (
            "huggingface/huggingface_hub/pull/2558",
            CHAT,
            event(&json!({"error": "boom", "error_type": "generation"})),
            "boom",
        ),
        ("a text", CHAT, "event: error\ndata: boom\n\n".to_owned(), "boom"),
        (
            "milind-soni/OpenMausBot/pull/1200",
            CHAT,
            event(&json!({"choices": null, "base_resp": {"status_code": 1008, "status_msg": "boom"}})),
            "boom",
        ),
        ("baidu", CHAT, event(&json!({"error_code": 336003, "error_msg": "boom"})), "boom"),
        (
            "a failed response",
            RESPONSES,
            event(&json!({"type": "response.failed", "response": {"error": {"message": "boom"}}})),
            "boom",
        ),
        (
            "a failed response without words",
            RESPONSES,
            event(&json!({"type": "response.failed", "response": {"error": null}})),
            "failed",
        ),
        ("ollama/ollama/issues/13710", OLLAMA, "{\"error\":\"boom\"}\n".to_owned(), "boom"),
        ("ollama (object)", OLLAMA, "{\"error\":{\"message\":\"boom\"}}\n".to_owned(), "boom"),
        (
            "diegosouzapw/OmniRoute/pull/8210",
            CHAT,
            event(
                &json!({"id": "c", "object": "chat.completion.chunk", "choices": [], "error": {"code": 502, "message": "boom", "metadata": {"error_type": "provider_unavailable"}}}),
            ),
            "boom",
        ),
        (
            "damianvtran/local-operator/pull/223",
            CHAT,
            event(
                &json!({"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}], "error": {"code": "server_error", "message": "boom"}}),
            ),
            "boom",
        ),
        (
            "NousResearch/hermes-agent/pull/65738",
            CHAT,
            event(&json!({"choices": null, "error_type": "BadRequestError", "error_message": "boom"})),
            "boom",
        ),
        ("the only event", CHAT, event(&json!({"message": "boom"})), "boom"),
        ("a document", CHAT, "{\"detail\":\"boom\"}".to_owned(), "boom"),
        (
            "a document in a list",
            CHAT,
            "[{\"error\":{\"code\":400,\"message\":\"boom\"}}]".to_owned(),
            "boom",
        ),
    ] {
        let cut_off = read(wire, stream.as_bytes());
        assert!(cut_off.starts_with('!') && cut_off.contains(words), "{name}: {cut_off}");
        // After a part of an answer, the part is preserved.
        if !stream.starts_with('[') && name != "the only event" && !name.starts_with("a document") {
            let part = answer(wire, &stream);
            let received = read(wire, part.as_bytes());
            assert!(received.starts_with("Fo!") && received.contains(words), "{name} within: {received}");
        }
    }
    // An error next to content in one event is ignored, and so is an error after a finish reason.
    let beside = event(&json!({"error": {"message": "boom"}, "choices": [{"delta": {"content": "-"}}]}));
    assert_eq!(read(CHAT, answer(CHAT, &beside).as_bytes()), "Fo-ur.");
    let late =
        answer(CHAT, "").replace("data: [DONE]", "data: {\"error\":{\"message\":\"boom\"}}\n\ndata: [DONE]");
    assert_eq!(read(CHAT, late.as_bytes()), "Four.");
}
