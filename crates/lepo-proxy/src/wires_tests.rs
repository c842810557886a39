//! A conversation on each wire, with an image, thinking, a tool call and a stream: each request goes on with what the
//! answer before it was kept as, and the path is the one that an import of the same messages makes.

use serde_json::{Value, json};

use crate::recorder_room_tests::Room;
use crate::recording::ExchangeEnd;
use crate::wire::ProxyWire;

const PNG: &str = "data:image/png;base64,iVBORw0KGgo=";

/// The three requests of a conversation, and the answers to them.
pub fn turns(wire: ProxyWire) -> Vec<(Value, String)> {
    match wire {
        ProxyWire::Chat => chat(),
        ProxyWire::Responses => responses(),
        ProxyWire::Messages => messages(),
        ProxyWire::Ollama => ollama(),
    }
}

/// Makes requests of growing histories.
fn growing(key: &str, rest: Value, parts: [Vec<Value>; 3]) -> Vec<Value> {
    let mut history = Vec::new();
    let mut requests = Vec::new();
    for part in parts {
        history.extend(part);
        let mut body = rest.clone();
        body[key] = Value::Array(history.clone());
        requests.push(body);
    }
    requests
}

fn events(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn chat() -> Vec<(Value, String)> {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "get", "arguments": "{\"b\":1,\"a\":2}"}});
    let requests = growing(
        "messages",
        json!({"model": "m"}),
        [
            vec![
                json!({"role": "system", "content": "be brief"}),
                json!({"role": "user", "content": [{"type": "text", "text": "what?"},
                {"type": "image_url", "image_url": {"url": PNG}}]}),
            ],
            vec![
                json!({"role": "assistant", "content": "wait", "tool_calls": [call]}),
                json!({"role": "tool", "tool_call_id": "c1", "content": "found"}),
            ],
            vec![
                json!({"role": "assistant", "content": "it is\n"}),
                json!({"role": "user", "content": "thanks"}),
            ],
        ],
    );
    let delta = |delta: Value| json!({"id": "x", "choices": [{"index": 0, "delta": delta}]});
    let answers = [
        events(&[
            delta(json!({"reasoning_content": "hm"})),
            delta(json!({"content": "wa"})),
            delta(json!({"content": "it"})),
            delta(
                json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "get", "arguments": "{\"b\":1,"}}]}),
            ),
            delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"a\":2}"}}]})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ]) + "data: [DONE]\n\n",
        json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "it is\n"}}]})
            .to_string(),
        json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "bye"}}]})
            .to_string(),
    ];
    requests.into_iter().zip(answers).collect()
}

fn responses() -> Vec<(Value, String)> {
    let reasoning =
        json!({"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]});
    let text = |text: &str| {
        json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
    };
    let call = json!({"type": "function_call", "id": "fc", "call_id": "c1", "name": "get", "arguments": "{\"b\":1,\"a\":2}"});
    let requests = growing(
        "input",
        json!({"model": "m", "instructions": "be brief"}),
        [
            vec![json!({"role": "user", "content": [{"type": "input_text", "text": "what?"},
            {"type": "input_image", "image_url": PNG}]})],
            vec![
                reasoning.clone(),
                text("wait"),
                call.clone(),
                json!({"type": "function_call_output", "call_id": "c1", "output": "found"}),
            ],
            vec![text("it is\n"), json!({"role": "user", "content": "thanks"})],
        ],
    );
    let whole = |output: &[&Value]| json!({"id": "r", "status": "completed", "output": output});
    let done = |index: u64, item: &Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let answers = [
        events(&[
            json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"}),
            done(0, &reasoning),
            json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message"}}),
            json!({"type": "response.output_text.delta", "output_index": 1, "delta": "wait"}),
            done(1, &text("wait")),
            done(2, &call),
            json!({"type": "response.completed", "response": whole(&[&reasoning, &text("wait"), &call])}),
        ]),
        whole(&[&text("it is\n")]).to_string(),
        whole(&[&text("bye")]).to_string(),
    ];
    requests.into_iter().zip(answers).collect()
}

fn messages() -> Vec<(Value, String)> {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let call = json!({"type": "tool_use", "id": "c1", "name": "get", "input": {"b": 1, "a": 2}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let requests = growing(
        "messages",
        json!({"model": "m", "max_tokens": 9, "system": "be brief"}),
        [
            vec![json!({"role": "user", "content": [{"type": "text", "text": "what?"}, {"type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]})],
            vec![
                json!({"role": "assistant", "content": [thinking, text("wait"), call]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "found"}]}),
            ],
            vec![
                json!({"role": "assistant", "content": "it is\n"}),
                json!({"role": "user", "content": [text("thanks")]}),
            ],
        ],
    );
    let block = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let whole = |content: Value| {
        json!({"type": "message", "id": "m", "content": content, "stop_reason": "end_turn"}).to_string()
    };
    let answers = [
        events(&[
            json!({"type": "message_start", "message": {"id": "m", "content": []}}),
            block(0, json!({"type": "thinking", "thinking": ""})),
            delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
            block(1, json!({"type": "text", "text": ""})),
            delta(1, json!({"type": "text_delta", "text": "wait"})),
            block(2, json!({"type": "tool_use", "id": "c1", "name": "get", "input": {}})),
            delta(2, json!({"type": "input_json_delta", "partial_json": "{\"b\":1,\"a\":2}"})),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            json!({"type": "message_stop"}),
        ]),
        whole(json!([text("it is\n")])),
        whole(json!([text("bye")])),
    ];
    requests.into_iter().zip(answers).collect()
}

fn ollama() -> Vec<(Value, String)> {
    let call = json!({"function": {"name": "get", "arguments": {"b": 1, "a": 2}}});
    let requests = growing(
        "messages",
        json!({"model": "m"}),
        [
            vec![
                json!({"role": "system", "content": "be brief"}),
                json!({"role": "user", "content": "what?", "images": ["iVBORw0KGgo="]}),
            ],
            vec![
                json!({"role": "assistant", "content": "wait", "thinking": "hm", "tool_calls": [call]}),
                json!({"role": "tool", "tool_name": "get", "content": "found"}),
            ],
            vec![
                json!({"role": "assistant", "content": "it is\n"}),
                json!({"role": "user", "content": "thanks"}),
            ],
        ],
    );
    let line = |message: Value, done: bool| {
        format!("{}\n", json!({"message": message, "done": done, "done_reason": "stop"}))
    };
    let text = |text: &str| json!({"role": "assistant", "content": text});
    let answers = [
        line(json!({"role": "assistant", "content": "", "thinking": "hm"}), false)
            + &line(text("wa"), false)
            + &line(text("it"), false)
            + &line(json!({"role": "assistant", "content": "", "tool_calls": [call]}), false)
            + &line(text(""), true),
        line(text("it is\n"), true),
        line(text("bye"), true),
    ];
    requests.into_iter().zip(answers).collect()
}

#[test]
fn each_wire_makes_the_same_path_and_no_message_twice() {
    let hash = lepo_base::hash::sha256_hex(b"\x89PNG\r\n\x1a\n");
    let tree = format!(
        "s1 be brief\n u0 what?||[image/png 8 bytes file.png: _blobs/{hash}]\n  a1 hm\n  a0 wait\n   a1 get|{{\"b\":1,\"a\":2}}\n    \
         t1 found\n   a0 it is|\n    u0 thanks\n     a0 bye"
    );
    for wire in [ProxyWire::Chat, ProxyWire::Responses, ProxyWire::Messages, ProxyWire::Ollama] {
        for reopens in [false, true] {
            let mut room = Room::new();
            let new: Vec<usize> = turns(wire)
                .into_iter()
                .map(|(body, answer)| {
                    if reopens {
                        room.reopen();
                    }
                    let (new, exchange) = room.exchange_of(wire, &body, 200, &answer, ExchangeEnd::Whole);
                    assert!(exchange.notes.is_empty(), "{exchange:?}");
                    new
                })
                .collect();
            assert_eq!((room.tree().as_str(), new), (tree.as_str(), vec![2, 1, 1]), "{wire:?} {reopens}");
        }
    }
}

#[test]
fn one_wire_goes_on_where_another_was() {
    let room = Room::new();
    let wires = [ProxyWire::Chat, ProxyWire::Responses, ProxyWire::Messages];
    for (index, wire) in wires.into_iter().enumerate() {
        let (body, answer) = turns(wire).into_iter().nth(index).unwrap();
        let (new, _) = room.exchange_of(wire, &body, 200, &answer, ExchangeEnd::Whole);
        assert_eq!(new, if index == 0 { 2 } else { 1 }, "{wire:?}");
    }
    assert_eq!(room.names().len(), 9);
}
