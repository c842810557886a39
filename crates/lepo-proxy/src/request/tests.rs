//! Requests of the four wires, as their clients write them.

use serde_json::{Value, json};

use super::*;

fn read(wire: ProxyWire, body: &Value) -> ProxyRequest {
    ProxyRequest::read(wire, "/v1/x", body.to_string().as_bytes()).unwrap()
}

/// Formats messages as lines: `user: text | <image/png 8> | call id name input | result id text`.
fn lines(request: &ProxyRequest) -> String {
    let part = |part: &MessageItem| match part {
        MessageItem::Text(text) => text.clone(),
        MessageItem::Thinking(text) => format!("({text})"),
        MessageItem::Call(call) => format!("call {} {} {}", call.id, call.name, call.input),
        MessageItem::Output(output) => {
            format!("result {} {} +{}", output.call, output.text, output.files.len())
        }
        MessageItem::File(file) => format!("<{} {}>", file.media.mime(), file.bytes.len()),
    };
    let message = |message: &ProxyMessage| {
        let parts: Vec<String> = message.parts.iter().map(part).collect();
        format!("{:?}: {}", message.role, parts.join(" | ")).to_lowercase()
    };
    request.messages().iter().map(message).collect::<Vec<_>>().join("\n")
}

const PNG: &str = "data:image/png;base64,iVBORw0KGgo=";

/// Returns the same conversation in the format of each wire: a system prompt, an image, thinking, a call, its result.
fn conversation(wire: ProxyWire) -> Value {
    match wire {
        ProxyWire::Chat => json!({"model": "m", "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "what?"},
                {"type": "image_url", "image_url": {"url": PNG}}]},
            {"role": "assistant", "reasoning_content": "hm", "content": "wait", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "get", "arguments": "{\"b\":1,\"a\":2}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        ]}),
        ProxyWire::Responses => json!({"model": "m", "instructions": "be brief", "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "what?"},
                {"type": "input_image", "image_url": PNG}]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "wait"}]},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "get", "arguments": "{\"b\":1,\"a\":2}"},
            {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        ]}),
        ProxyWire::Messages => {
            json!({"model": "m", "max_tokens": 9, "system": [{"type": "text", "text": "be brief"}],
                "messages": [
                {"role": "user", "content": [{"type": "text", "text": "what?"}, {"type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]},
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "text", "text": "wait"},
                    {"type": "tool_use", "id": "c1", "name": "get", "input": {"b": 1, "a": 2}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]},
            ]})
        }
        ProxyWire::Ollama => json!({"model": "m", "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "what?", "images": ["iVBORw0KGgo="]},
            {"role": "assistant", "thinking": "hm", "content": "wait", "tool_calls": [
                {"id": "c1", "function": {"name": "get", "arguments": {"b": 1, "a": 2}}}]},
            {"role": "tool", "tool_name": "get", "tool_call_id": "c1", "content": "ok"},
        ]}),
    }
}

const WIRES: [ProxyWire; 4] = [ProxyWire::Chat, ProxyWire::Responses, ProxyWire::Messages, ProxyWire::Ollama];

#[test]
fn one_conversation_reads_the_same_on_every_wire() {
    for wire in WIRES {
        let request = read(wire, &conversation(wire));
        let result = if wire == ProxyWire::Messages { "user" } else { "tool" };
        let expected = format!(
            "system: be brief\nuser: what? | <image/png 8>\n\
             assistant: (hm) | wait | call c1 get {{\"b\":1,\"a\":2}}\n{result}: result c1 ok +0"
        );
        assert_eq!(lines(&request), expected, "{wire:?}");
        assert_eq!((request.model(), request.message_count()), ("m", 4), "{wire:?}");
        assert_eq!(request.is_streamed(), wire == ProxyWire::Ollama, "{wire:?}");
        assert_eq!((request.prefill(), request.answer_count()), (None, 1), "{wire:?}");
    }
}

#[test]
fn messages_of_each_wire_have_their_place() {
    use ProxyWire::{Chat, Messages, Ollama, Responses};
    for (wire, body, expected) in [
        (
            Chat,
            json!({"messages": [{"role": "developer", "content": [{"type": "text", "text": "a"},
            {"type": "text", "text": "b"}]}, {"role": "user", "content": "c"}]}),
            "system: a\n\nb\nuser: c",
        ),
        (
            Chat,
            json!({"messages": [{"role": "user", "content": "c"}, {"role": "assistant", "content": null,
            "function_call": {"name": "f", "arguments": "{}"}}, {"role": "function", "name": "f", "content": "x"}]}),
            "user: c\nassistant: call  f {}\ntool: result  x +0",
        ),
        (
            Chat,
            json!({"messages": [{"role": "user", "content": "c"}, {"role": "assistant", "content": null,
            "refusal": "no"}, {"role": "user", "content": "d"}]}),
            "user: c\nassistant: no\nuser: d",
        ),
        (
            Messages,
            json!({"messages": [{"role": "user", "content": "c"}, {"role": "system", "content": "mid"}]}),
            "user: c\nsystem: mid",
        ),
        (
            Messages,
            json!({"messages": [{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": [{"type": "text", "text": "bad"}]},
            {"type": "text", "text": "and"}]}]}),
            "user: result c1 bad +0 | and",
        ),
        (Responses, json!({"input": "hi"}), "user: hi"),
        (
            Responses,
            json!({"input": [{"role": "user", "content": "a"}, {"type": "function_call", "call_id": "1",
            "name": "f", "arguments": ""}, {"type": "custom_tool_call", "call_id": "2", "name": "g", "input": "x"},
            {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "r"}]},
            {"type": "custom_tool_call_output", "call_id": "2", "output": "s"}]}),
            "user: a\nassistant: call 1 f  | call 2 g x\ntool: result 1 r +0\ntool: result 2 s +0",
        ),
        (
            Responses,
            json!({"input": [{"role": "user", "content": "a"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "c"}]},
            {"role": "user", "content": "d"}]}),
            "user: a\nassistant: b\nassistant: c\nuser: d",
        ),
        (
            Responses,
            json!({"input": [{"role": "user", "content": "a"}, {"type": "reasoning", "encrypted_content": "x"},
            {"type": "local_shell_call", "call_id": "1", "action": {"command": ["ls"]}}]}),
            "user: a\nassistant: call 1 local_shell {\"command\":[\"ls\"]}",
        ),
        (
            Ollama,
            json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "",
            "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, {"role": "tool", "content": "x"}]}),
            "user: a\nassistant:  | call  f {}\ntool: result  x +0",
        ),
    ] {
        assert_eq!(lines(&read(wire, &body)), expected, "{body}");
    }
}

#[test]
fn a_last_message_of_the_assistant_is_a_prefill() {
    let body = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "c"},
        {"role": "assistant", "content": "{"}]});
    let request = read(ProxyWire::Messages, &body);
    assert_eq!(
        (request.prefill(), lines(&request).as_str(), request.message_count()),
        (Some("{"), "user: c", 2)
    );
}

#[test]
fn options_tools_and_schema_are_the_same_on_every_wire() {
    let schema = json!({"type": "object"});
    let messages = json!([{"role": "user", "content": "a"}]);
    let bodies = [
        (
            ProxyWire::Chat,
            json!({"messages": messages, "temperature": 0.5, "max_completion_tokens": 7,
            "reasoning_effort": "low", "stream": true,
            "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}},
            "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}}]}),
        ),
        (
            ProxyWire::Responses,
            json!({"input": "a", "temperature": 0.5, "max_output_tokens": 7, "store": false,
            "reasoning": {"effort": "low"}, "stream": true, "include": ["x"],
            "text": {"format": {"type": "json_schema", "name": "a", "schema": schema}},
            "tools": [{"type": "function", "name": "f", "parameters": schema, "strict": true}]}),
        ),
        (
            ProxyWire::Messages,
            json!({"messages": messages, "temperature": 0.5, "max_tokens": 7, "stream": true,
            "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": schema}},
            "tools": [{"name": "f", "input_schema": schema, "cache_control": {"type": "ephemeral"}}]}),
        ),
        (
            ProxyWire::Ollama,
            json!({"messages": messages, "options": {"temperature": 0.5, "num_predict": 7},
            "think": "low", "format": schema, "keep_alive": "5m",
            "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]}),
        ),
    ];
    for (wire, body) in bodies {
        let request = read(wire, &body);
        let options = Value::Object(request.options().clone());
        assert_eq!(options, json!({"temperature": 0.5, "max_tokens": 7, "effort": "low"}), "{wire:?}");
        assert_eq!(request.schema(), Some(&schema), "{wire:?}");
        let tool = ProxyTool { name: "f".into(), namespace: None, schema: schema.clone() };
        assert_eq!(request.tools(), [tool], "{wire:?}");
        assert!(request.is_streamed(), "{wire:?}");
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    for (body, expected) in [
        ("", Err(UnreadableRequest::NotJson)),
        ("[]", Err(UnreadableRequest::NotJson)),
        ("{\"messages\":[", Err(UnreadableRequest::NotJson)),
        ("{}", Err(UnreadableRequest::NoMessages)),
        ("{\"messages\":[]}", Err(UnreadableRequest::NoMessages)),
        ("{\"messages\":\"x\"}", Err(UnreadableRequest::NoMessages)),
        ("{\"messages\":[{}]}", Err(UnreadableRequest::NoMessages)),
        ("{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}", Ok("dep")),
        ("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}", Ok("m")),
    ] {
        let path = "/openai/deployments/dep/chat/completions";
        let read = ProxyRequest::read(ProxyWire::Chat, path, body.as_bytes());
        assert_eq!(read.as_ref().map(ProxyRequest::model).map_err(|error| *error), expected, "{body}");
    }
    let continued = json!({"model": "m", "previous_response_id": "resp_1", "input": []});
    assert_eq!(read(ProxyWire::Responses, &continued).previous_response(), Some("resp_1"));
    let deep = format!("{{\"messages\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let read = ProxyRequest::read(ProxyWire::Chat, "/", deep.as_bytes());
    assert_eq!(read, Err(UnreadableRequest::NotJson));
}
