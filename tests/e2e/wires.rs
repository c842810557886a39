//! The wires of today's servers: what a model said goes back to it as it came, each server's refusals are
//! reproduced, and requests share their beginning.

mod anthropic;
mod compact;
mod constant_tools;
mod learned;
mod limits;
mod listed;
mod prefix;
mod replay;
mod responses;
mod result_files;
mod strict;
mod tool_history;
mod web;
mod world;

use serde_json::{Value, json};

use crate::home::Home;
use crate::scripted::{Asked, Reply, Server, openai_event, openai_sse};

/// A home whose one model speaks to `server`; `model` are the lines of its configuration.
fn home(server: &Server, settings: &str, model: &str) -> Home {
    let home = Home::with_config(&format!(
        "{settings}\n[[models]]\nname = \"test\"\nactive = true\nmodel = \"m\"\napi_key = \"sk-canary\"\n{}\n",
        model.replace("URL", &server.url())
    ));
    home.write("config/system_prompt.txt", "PROMPT");
    home.write_insts("general = 'GENERAL'");
    home
}

const CHAT: &str = "provider = \"openai\"\nbase_url = \"URL/v1\"";
const RESPONSES: &str = "provider = \"openai\"\nwire = \"responses\"\nbase_url = \"URL/v1\"";
const ANTHROPIC: &str = "provider = \"anthropic\"\nbase_url = \"URL\"";
const OLLAMA: &str = "provider = \"ollama\"\nbase_url = \"URL\"";
const NATIVE: &str = "planner = 'native'";

/// The requests that were questions, as JSON.
fn bodies(server: &Server) -> Vec<Value> {
    server.asked().iter().filter(|asked| asked.method == "POST").map(Asked::json).collect()
}

fn refused(words: &str) -> Reply {
    Reply::new(400, json!({"error": {"message": words, "type": "invalid_request_error"}}).to_string())
}

fn sse(events: impl IntoIterator<Item = Value>) -> Reply {
    let stream: String = events.into_iter().map(|event| format!("data: {event}\n\n")).collect();
    Reply::new(200, stream).header("content-type", "text/event-stream")
}

/// An answer of the Messages API that is these blocks.
fn messages_api(blocks: &[Value], stop: &str) -> Reply {
    let mut events = vec![json!({"type": "message_start", "message": {"usage":
        {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1}}})];
    for (index, block) in blocks.iter().enumerate() {
        let (mut start, mut deltas) = (block.clone(), Vec::new());
        let mut stream = |field: &str, kind: &str| {
            let text = start[field].as_str().map(str::to_owned);
            if let Some(text) = text {
                start[field] = "".into();
                let middle = text.len() / 2;
                for piece in [&text[..middle], &text[middle..]] {
                    deltas.push(json!({"type": kind, field: piece}));
                }
            }
        };
        stream("text", "text_delta");
        stream("thinking", "thinking_delta");
        stream("signature", "signature_delta");
        if block["type"] == "tool_use" || block["type"] == "server_tool_use" {
            start["input"] = json!({});
            deltas.push(json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}));
        }
        if let Some(cited) = block["citations"].as_array() {
            start["citations"] = json!([]);
            deltas.extend(
                cited.iter().map(|citation| json!({"type": "citations_delta", "citation": citation})),
            );
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let calls = |name: &str| {
        let is_its = |block: &&Value| block["type"] == "server_tool_use" && block["name"] == name;
        blocks.iter().filter(is_its).count()
    };
    let web = json!({"web_search_requests": calls("web_search"), "web_fetch_requests": calls("web_fetch")});
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop},
        "usage": {"output_tokens": 7, "server_tool_use": web}}));
    events.push(json!({"type": "message_stop"}));
    sse(events)
}

fn spoken(text: &str) -> Reply {
    messages_api(&[json!({"type": "text", "text": text})], "end_turn")
}

/// An answer of the Responses API that is these items.
fn responses_api(items: &[Value]) -> Reply {
    let mut events = vec![json!({"type": "response.created", "response": {}})];
    for item in items {
        for part in item["content"].as_array().into_iter().flatten() {
            events.push(json!({"type": "response.output_text.delta", "delta": part["text"]}));
            for annotation in part["annotations"].as_array().into_iter().flatten() {
                events
                    .push(json!({"type": "response.output_text.annotation.added", "annotation": annotation}));
            }
        }
        events.push(json!({"type": "response.output_item.done", "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": {"usage":
        {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 7}}}));
    sse(events)
}

fn said_item(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
           "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

/// An answer in chat form whose deltas are these.
fn chat(deltas: impl IntoIterator<Item = Value>) -> Reply {
    let mut stream: String = deltas.into_iter().map(|delta| openai_event(delta, None)).collect();
    stream += &openai_event(json!({}), Some("tool_calls"));
    Reply::new(200, stream + "data: [DONE]\n\n")
}

fn chat_said(text: &str) -> Reply {
    openai_sse([text])
}
