//! Streams of real servers, on every wire. A row is named by the public report from which it is rebuilt.

mod calls;
mod concern;
mod ends;
mod random;
mod texts;

use serde_json::{Value, json};

use crate::answer_reader::AnswerReader;
use crate::event::{ChatEvent, EventQueue, FinishReason};
use crate::message::ToolSpec;
use crate::{anthropic, ollama, openai, responses};

const CHAT: usize = 0;
const MESSAGES: usize = 1;
const RESPONSES: usize = 2;
const OLLAMA: usize = 3;
const ALL: [usize; 4] = [CHAT, MESSAGES, RESPONSES, OLLAMA];

fn reader(wire: usize) -> Box<dyn AnswerReader> {
    let spec = [&openai::SPEC, &anthropic::SPEC, &responses::SPEC, &ollama::SPEC][wire];
    let tool = ToolSpec { name: "run".into(), description: String::new(), schema: json!({}) };
    (spec.http.unwrap().reader)(&[tool])
}

/// Renders an answer: thinking in parentheses, text, calls as `name=arguments`, `.` at its end, then the failure.
fn read(wire: usize, bytes: &[u8]) -> String {
    let mut found = Vec::new();
    for size in [1, 17, bytes.len().max(1)] {
        let (mut reader, mut events) = (reader(wire), EventQueue::new());
        let mut failed = bytes.chunks(size).find_map(|piece| reader.read(piece, &mut events).err());
        if failed.is_none() {
            failed = reader.finish(&mut events).err();
        }
        let mut line = String::new();
        for event in events {
            match event {
                ChatEvent::Thinking(text) => line += &format!("({text})"),
                ChatEvent::Text(text) => line += &text,
                ChatEvent::ToolCall(call) => line += &format!("[{}={}]", call.name, call.arguments),
                ChatEvent::Done(FinishReason::Stop | FinishReason::ToolCalls) => line += ".",
                ChatEvent::Done(finish) => line += &format!(".{finish:?}"),
                _ => {}
            }
        }
        let failed = failed.map(|error| format!("!{}", error.message)).unwrap_or_default();
        found.push(line.replace(")(", "") + &failed);
    }
    assert!(found.windows(2).all(|two| two[0] == two[1]), "{found:?}");
    found.remove(0)
}

fn event(value: &Value) -> String {
    match value["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {value}\n\n"),
        None => format!("data: {value}\n\n"),
    }
}

/// Frames an answer on a wire: the text `Fo`, then `between`, then the text `ur`.
fn answer(wire: usize, between: &str) -> String {
    let chat = |delta: Value, finish: Value| {
        event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
    };
    let text = |text: &str| {
        event(
            &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        )
    };
    let out =
        |text: &str| event(&json!({"type": "response.output_text.delta", "item_id": "m", "delta": text}));
    let line = |value: Value| format!("{value}\n");
    match wire {
        CHAT => {
            chat(json!({"content": "Fo"}), Value::Null)
                + between
                + &chat(json!({"content": "ur"}), Value::Null)
                + &chat(json!({}), json!("stop"))
                + "data: [DONE]\n\n"
        }
        MESSAGES => {
            event(&json!({"type": "message_start", "message": {"content": []}}))
                + &event(
                    &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                )
                + &text("Fo")
                + between
                + &text("ur")
                + &event(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}))
                + &event(&json!({"type": "message_stop"}))
        }
        RESPONSES => {
            out("Fo")
                + between
                + &out("ur")
                + &event(&json!({"type": "response.completed", "response": {"output": []}}))
        }
        _ => {
            line(json!({"message": {"content": "Fo"}, "done": false}))
                + between
                + &line(json!({"message": {"content": "ur"}, "done": false}))
                + &line(json!({"message": {"content": ""}, "done": true, "done_reason": "stop"}))
        }
    }
}
