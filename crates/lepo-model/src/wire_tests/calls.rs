//! Calls in every known form.

use serde_json::{Value, json};

use super::{CHAT, MESSAGES, OLLAMA, RESPONSES, event, read};

#[test]
fn calls_are_found_on_every_wire() {
    let d = |more: Value| event(&json!({"choices": [{"delta": more}]}));
    let done = "data: [DONE]\n\n";
    let added = |name: &str, arguments: &str| {
        event(&json!({"type": "response.output_item.added", "output_index": 0, "item":
            {"type": "function_call", "id": "fc", "call_id": "c", "name": name, "arguments": arguments, "status": "in_progress"}}))
    };
    let delta = |piece: &str| {
        event(
            &json!({"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 0, "delta": piece}),
        )
    };
    let args = |arguments: Value| {
        event(
            &json!({"type": "response.function_call_arguments.done", "item_id": "fc", "arguments": arguments}),
        )
    };
    let completed =
        |output: Value| event(&json!({"type": "response.completed", "response": {"output": output}}));
    let item = |name: &str, arguments: Value| json!({"type": "function_call", "id": "fc", "call_id": "c", "name": name, "arguments": arguments});
    let item_done =
        |item: Value| event(&json!({"type": "response.output_item.done", "output_index": 0, "item": item}));
    let start =
        |block: Value| event(&json!({"type": "content_block_start", "index": 0, "content_block": block}));
    let json_delta = |piece: Value| {
        event(
            &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}),
        )
    };
    let stop = event(&json!({"type": "message_stop"}));
    let one = "[run={\"a\":1}].";
    let rows: Vec<(&str, usize, String, &str)> = vec![
        ("NousResearch/hermes-agent/issues/92764", RESPONSES, added("run", "") + &delta("{\"a\":") + &delta("1}") + &completed(json!([])), one),
        ("NousResearch/hermes-agent/pull/92767", RESPONSES, added("run", "") + &args(json!("{\"a\":1}")) + &completed(json!([])), one),
        ("anomalyco/opencode/pull/44893", RESPONSES, added("run", "") + &delta("{\"a\":") + &completed(json!([item("run", json!("{\"a\":1}"))])), one),
        ("router-for-me/CLIProxyAPI/issues/2626", RESPONSES, added("run", "") + &item_done(item("run", json!("{\"a\":1}"))) + &completed(json!([])), one),
        ("router-for-me/CLIProxyAPI/issues/1004", RESPONSES, added("run", "") + &delta("{\"a\":1}") + &item_done(item("", json!(""))) + &completed(json!([])), one),
        ("rbb-dev/Open-WebUI-OpenRouter-pipe/pull/54", RESPONSES, item_done(item("run", json!("{\"a\":1}"))) + &completed(json!([{"type": "function_call", "id": "other", "call_id": "c", "name": "run", "arguments": "{\"a\":1}"}])), one),
        ("arguments as an object", RESPONSES, item_done(item("run", json!({"a": 1}))) + &completed(json!([])), one),
        ("arguments as an object, done", RESPONSES, added("run", "") + &args(json!({"a": 1})) + &completed(json!([])), one),
        ("a whole response", RESPONSES, json!({"output": [item("run", json!("{\"a\":1}"))]}).to_string(), one),
        ("anomalyco/opencode/pull/38733", MESSAGES, start(json!({"type": "tool_use", "id": "t", "name": "run", "input": {"a": 1}})) + &stop, one),
        ("input as text", MESSAGES, start(json!({"type": "tool_use", "id": 7, "name": "run", "input": "{\"a\":1}"})) + &stop, one),
        ("arguments as an object on this wire", MESSAGES, start(json!({"type": "tool_use", "id": "t", "name": "run", "input": {}})) + &json_delta(json!({"a": 1})) + &stop, one),
        ("told whole, and in pieces", MESSAGES, start(json!({"type": "tool_use", "id": "t", "name": "run", "input": {"a": 1}})) + &json_delta(json!("{\"a\"")) + &json_delta(json!(":1}")) + &stop, one),
        ("sgl-project/sglang/issues/23071", CHAT, d(json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "run", "arguments": ""}}]})) + &d(json!({"tool_calls": [{"index": 1, "id": null, "function": {"name": null, "arguments": "{\"a\":1"}}]})) + &d(json!({"tool_calls": [{"index": 1, "function": {"arguments": "}"}}]})) + done, one),
        ("QwenLM/qwen-code/issues/6249", CHAT, d(json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "run", "arguments": ""}}]})) + done, "[run={}]."),
        ("BerriAI/litellm/pull/37792", CHAT, d(json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "run", "arguments": {"a": 1}}}]})) + &d(json!({"tool_calls": [{"index": 0, "id": "d", "function": {"name": "run", "arguments": {"a": 2}}}]})) + done, "[run={\"a\":1}][run={\"a\":2}]."),
        ("huggingface/transformers/issues/40957", CHAT, d(json!({"tool_calls": [{"index": 2, "id": "c", "function": {"name": "run"}}]})) + &d(json!({"tool_calls": [{"index": 2, "function": {"arguments": "{\"a\":1}"}}]})) + done, one),
        ("teamchong/pxpipe/pull/264", CHAT, d(json!({"tool_calls": [{"id": "c", "function": {"name": "run", "arguments": "{\"a\""}}]})) + &d(json!({"tool_calls": [{"function": {"arguments": ":1}"}}]})) + done, one),
        ("the form before tool_calls", CHAT, d(json!({"function_call": {"name": "run", "arguments": ""}})) + &d(json!({"function_call": {"arguments": "{\"a\":1}"}})) + done, one),
        ("both forms", CHAT, d(json!({"function_call": {"name": "run", "arguments": "{\"a\":1}"}, "tool_calls": [{"id": "c", "function": {"name": "run", "arguments": "{\"a\":1}"}}]})) + done, one),
        ("Copilot's second choice", CHAT, json!({"choices": [{"message": {"content": "I look"}}, {"message": {"tool_calls": [{"id": "c", "function": {"name": "run", "arguments": "{\"a\":1}"}}]}}]}).to_string(), "I look[run={\"a\":1}]."),
        ("calls under another finish reason", CHAT, event(&json!({"choices": [{"delta": {"tool_calls": [{"id": "c", "function": {"name": "run", "arguments": "{\"a\":1}"}}]}, "finish_reason": "stop"}]})), one),
        ("langchain-ai/langchain/issues/34746", OLLAMA, "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"run\",\"arguments\":\"{\\\"a\\\":1}\"}}]},\"done\":true}\n".into(), one),
        ("a single call", OLLAMA, "{\"message\":{\"tool_calls\":{\"function\":{\"name\":\"Run\",\"arguments\":{\"a\":1}}}},\"done\":true}\n".into(), one),
    ];
    for (report, wire, stream, expected) in rows {
        assert_eq!(read(wire, stream.as_bytes()), expected, "{report}");
    }
}
