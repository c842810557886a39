//! Anthropic's Messages API: what comes back, a stream of events or one message.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::web::Fetched;
use crate::error_text::{excerpt, words};
use crate::event::{Event, Events, Finish, TextKind, Usage, tokens};
use crate::kept::Kept;
use crate::message::{self, ToolCall};
use crate::reader::Refused;
use crate::replay::Replay;
use crate::sse_answer::{Decoder, not_understood};
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Command, Hint};

/// One event, as far as it is used.
#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    index: Option<usize>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    content_block: Option<Map<String, Value>>,
    message: Option<Value>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize, Default)]
struct Delta<'a> {
    #[serde(default, borrow)]
    text: Cow<'a, str>,
    #[serde(default, borrow)]
    thinking: Cow<'a, str>,
    #[serde(default, borrow)]
    signature: Cow<'a, str>,
    #[serde(default, borrow)]
    partial_json: Cow<'a, str>,
    citation: Option<Value>,
    stop_reason: Option<String>,
    stop_details: Option<Value>,
}

#[derive(Default, Clone, Copy)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    web: Option<u64>,
}

/// The answer so far.
#[derive(Default)]
pub struct MessagesDecoder {
    blocks: Vec<Block>,
    fetched: Fetched,
    kept: Kept,
    tokens: Tokens,
    stop: Option<String>,
    stop_details: Option<Value>,
    refused: Option<Refused>,
    begun: bool,
    done: bool,
}

/// A block as received, its streamed texts joined.
struct Block {
    index: usize,
    fields: Map<String, Value>,
    json: String,
}

const FORM: &str = "an answer of the Messages API";

/// The most blocks of one answer: each delta looks for its own.
const MOST_BLOCKS: usize = 10_000;

impl Decoder for MessagesDecoder {
    const END: &'static str = "`message_stop`";
    const FORM: &'static str = FORM;

    fn data(&mut self, data: &[u8], events: &mut Events) -> Result<()> {
        let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|_| not_understood(FORM, data))?;
        match chunk.kind.as_ref() {
            "error" => return Err(self.failed(chunk.error.unwrap_or_default())),
            "message_start" => {
                self.begun = true;
                self.count(chunk.message.as_ref().and_then(|message| message.get("usage")));
            }
            "content_block_start" => {
                if let (Some(index), Some(fields)) = (chunk.index, chunk.content_block) {
                    self.kept.count(data)?;
                    if self.blocks.len() >= MOST_BLOCKS {
                        return Err(Error::remote(format!("the answer has more than {MOST_BLOCKS} blocks")));
                    }
                    self.start(index, fields, events);
                }
            }
            "content_block_delta" => {
                if let (Some(index), Some(delta)) = (chunk.index, chunk.delta) {
                    if delta.text.is_empty() && delta.thinking.is_empty() {
                        self.kept.count(data)?;
                    }
                    self.delta(index, delta, events);
                }
            }
            "content_block_stop" => {
                if let Some(index) = chunk.index {
                    self.ended(index, events);
                }
            }
            "message_delta" => {
                self.count(chunk.usage.as_ref());
                if let Some(delta) = chunk.delta {
                    self.stop = delta.stop_reason.or(self.stop.take());
                    self.stop_details = delta.stop_details.or(self.stop_details.take());
                }
            }
            "message_stop" => return self.finish(events),
            // `ping`, and what is yet to come.
            _ => {
                // llama.cpp and gateways send errors in OpenAI's form.
                if let Some(error) = chunk.error {
                    return Err(self.failed(error));
                }
            }
        }
        Ok(())
    }

    fn document(&mut self, data: &[u8], events: &mut Events) -> Result<()> {
        let mut whole: Value = serde_json::from_slice(data).map_err(|_| not_understood(FORM, data))?;
        if let Some(error) = whole.get_mut("error").map(Value::take) {
            return Err(self.failed(error));
        }
        let Some(Value::Array(blocks)) = whole.get_mut("content").map(Value::take) else { return Ok(()) };
        self.begun = true;
        for (index, block) in blocks.into_iter().enumerate() {
            if let Value::Object(fields) = block {
                self.start(index, fields, events);
                self.ended(index, events);
            }
        }
        self.count(whole.get("usage"));
        self.stop = whole["stop_reason"].as_str().map(str::to_owned);
        self.stop_details = whole.get("stop_details").cloned();
        self.finish(events)
    }

    fn close(&mut self, _: &mut Events) {}

    fn has_begun(&self) -> bool {
        self.begun
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn refused(&self) -> Option<Refused> {
        self.refused.clone()
    }
}

impl MessagesDecoder {
    fn start(&mut self, index: usize, fields: Map<String, Value>, events: &mut Events) {
        let said = |name: &str| fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        match fields.get("type").and_then(Value::as_str) {
            Some("text") => events.extend(said("text").map(|text| Event::Text(text.to_owned()))),
            Some("thinking") => events.extend(said("thinking").map(|text| Event::Thinking(text.to_owned()))),
            _ => {}
        }
        self.blocks.push(Block { index, fields, json: String::new() });
    }

    fn delta(&mut self, index: usize, delta: Delta<'_>, events: &mut Events) {
        let Some(block) = self.blocks.iter_mut().rev().find(|block| block.index == index) else { return };
        if !delta.text.is_empty() {
            block.join("text", &delta.text);
            TextKind::Text.say(&delta.text, events);
        }
        if !delta.thinking.is_empty() {
            block.join("thinking", &delta.thinking);
            TextKind::Thinking.say(&delta.thinking, events);
        }
        if !delta.signature.is_empty() {
            block.join("signature", &delta.signature);
        }
        block.json.push_str(&delta.partial_json);
        if let Some(citation) = delta.citation {
            match block.fields.get_mut("citations") {
                Some(Value::Array(all)) => all.push(citation),
                _ => {
                    block.fields.insert("citations".to_owned(), json!([citation]));
                }
            }
        }
    }

    /// A block is whole.
    fn ended(&mut self, index: usize, events: &mut Events) {
        if let Some(block) = self.blocks.iter_mut().rev().find(|block| block.index == index) {
            if block.is_of_server() {
                block.call();
            }
            self.fetched.ended(&block.fields, events);
        }
    }

    /// Takes in later counts; counts that are missing keep their value.
    fn count(&mut self, told: Option<&Value>) {
        let Some(told) = told else { return };
        let kept = self.tokens;
        let later = |name: &str, kept: Option<u64>| told.get(name).and_then(tokens).or(kept);
        self.tokens = Tokens {
            input_tokens: later("input_tokens", kept.input_tokens),
            output_tokens: later("output_tokens", kept.output_tokens),
            cache_read_input_tokens: later("cache_read_input_tokens", kept.cache_read_input_tokens),
            cache_creation_input_tokens: later(
                "cache_creation_input_tokens",
                kept.cache_creation_input_tokens,
            ),
            web: told.get("server_tool_use").map(web_requests).or(kept.web),
        };
    }

    /// The end mark has come.
    fn finish(&mut self, events: &mut Events) -> Result<()> {
        self.done = true;
        if self.stop.as_deref() == Some("refusal") {
            return Err(refusal(self.stop_details.take()));
        }
        let mut calls = Vec::new();
        for block in &mut self.blocks {
            calls.extend(block.call());
        }
        // Of tools that the server runs itself.
        let paused = self.stop.as_deref() == Some("pause_turn") && calls.is_empty();
        let mut said = None;
        if !calls.is_empty() || paused {
            let content: Vec<Value> = self
                .blocks
                .drain(..)
                .filter(|block| !block.is_blank())
                .map(|block| block.fields.into())
                .collect();
            said = Some(Replay::new(json!({"role": "assistant", "content": content})));
        }
        if !paused {
            events.extend(said.take().map(Event::Replay));
            events.extend(calls.into_iter().map(Event::ToolCall));
        }
        let Tokens { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens, web } =
            self.tokens;
        let parts = [input_tokens, cache_read_input_tokens, cache_creation_input_tokens];
        let usage = Usage {
            // The API leaves cached tokens out of its count.
            input: input_tokens.map(|_| parts.into_iter().flatten().fold(0, u64::saturating_add)),
            output: output_tokens,
            cached: cache_read_input_tokens,
            cache_write: cache_creation_input_tokens,
            web: web.filter(|&web| web > 0),
        };
        if usage != Usage::default() {
            events.push_back(Event::Usage(usage));
        }
        let finish = || Event::Done(Finish::from_word(self.stop.as_deref().unwrap_or("end_turn")));
        events.push_back(said.map_or_else(finish, Event::Paused));
        Ok(())
    }

    /// The error for an event that is one. Its type says the HTTP status that it would have had.
    fn failed(&mut self, error: Value) -> Error {
        let words = words(&error).unwrap_or_else(|| excerpt(error.to_string().as_bytes()));
        let kind = error["type"].as_str().unwrap_or_default();
        let status = match kind {
            "overloaded_error" => Some(529),
            "rate_limit_error" => Some(429),
            "api_error" | "server_error" => Some(500),
            "timeout_error" => Some(504),
            "invalid_request_error" | "exceed_context_size_error" => Some(400),
            "authentication_error" => Some(401),
            "permission_error" => Some(403),
            "not_found_error" => Some(404),
            "request_too_large" => Some(413),
            _ => error["code"].as_u64(),
        };
        self.refused = status.and_then(|status| Refused::new(status, &format!("{words} ({kind})")));
        Error::remote(format!("the model failed: {words}")).ask_again()
    }
}

impl Block {
    fn join(&mut self, field: &str, text: &str) {
        match self.fields.get_mut(field) {
            Some(Value::String(whole)) => whole.push_str(text),
            _ => {
                self.fields.insert(field.to_owned(), text.into());
            }
        }
    }

    /// The call that the block is, of one of the caller's tools. The arguments become a part of the block, also of a
    /// call that the server makes itself.
    fn call(&mut self) -> Option<ToolCall> {
        let kind = self.fields.get("type")?.as_str()?;
        let own = kind == "tool_use";
        if !own && !matches!(kind, "server_tool_use" | "mcp_tool_use") {
            return None;
        }
        let mut arguments = self.fields.get("input").cloned().unwrap_or_else(|| json!({}));
        if !self.json.is_empty() {
            arguments = message::arguments(&self.json);
        }
        let input = if arguments.is_object() { arguments.clone() } else { json!({}) };
        self.fields.insert("input".to_owned(), input);
        let text = |name: &str| Some(self.fields.get(name).filter(|_| own)?.as_str()?.to_owned());
        Some(ToolCall { id: text("id")?, name: text("name")?, arguments })
    }

    /// True if the server itself carries out the call that the block is.
    fn is_of_server(&self) -> bool {
        self.fields.get("type").is_some_and(|kind| kind == "server_tool_use")
    }

    /// A text of white space, which the API sends but does not take.
    fn is_blank(&self) -> bool {
        let text = |name: &str| self.fields.get(name).and_then(Value::as_str);
        text("type") == Some("text") && text("text").is_none_or(|text| text.trim().is_empty())
    }
}

/// Searches and fetches of an answer.
fn web_requests(told: &Value) -> u64 {
    let count = |name: &str| told.get(name).and_then(tokens).unwrap_or_default();
    count("web_search_requests").saturating_add(count("web_fetch_requests"))
}

/// The error for a model that declines to answer.
fn refusal(details: Option<Value>) -> Error {
    let details = details.unwrap_or_default();
    let told: Vec<String> =
        ["category", "explanation"].iter().filter_map(|key| words(details.get(*key)?)).collect();
    let told = if told.is_empty() { String::new() } else { format!(": {}", told.join(": ")) };
    Error::remote(format!("the model refused to answer{told}"))
        .hint(Hint::from("ask in other words, or another model: ").command(Command::OtherModel))
}
