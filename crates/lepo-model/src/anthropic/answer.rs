//! Parses answers of Anthropic's Messages API, as a stream of events or as a single message.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{block::ReceivedBlock, web::FetchedPages};
use crate::event::{ChatEvent, EventQueue, FinishReason, TextKind, Usage, tokens};
use crate::loose_fields::{FlexibleText, IfObject};
use crate::message::{ToolCall, ToolSpec};
use crate::replay::{ProviderMessage, ReplayBudget};
use crate::sse_answer::{Decoder, EventUse};
use crate::tool_names::ToolNames;
use crate::{call_pieces::own_ids, error_text::error_excerpt};
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand};

/// The used fields of an event. A field of unknown form is treated as missing.
#[derive(Deserialize)]
struct MessagesEvent<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: FlexibleText<'a>,
    index: Option<Value>,
    #[serde(default, borrow)]
    delta: IfObject<MessagesDelta<'a>>,
    content_block: Option<Value>,
    message: Option<Value>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct MessagesDelta<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: FlexibleText<'a>,
    #[serde(default, borrow)]
    text: FlexibleText<'a>,
    #[serde(default, borrow)]
    thinking: FlexibleText<'a>,
    #[serde(default, borrow)]
    signature: FlexibleText<'a>,
    partial_json: Option<Value>,
    citation: Option<Value>,
    stop_reason: Option<Value>,
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

#[derive(Default)]
pub struct MessagesDecoder {
    blocks: Vec<ReceivedBlock>,
    names: ToolNames,
    fetched: FetchedPages,
    replay_budget: ReplayBudget,
    tokens: Tokens,
    stop: Option<String>,
    stop_details: Option<Value>,
    has_begun: bool,
    /// Whether anything but thinking has come.
    has_more: bool,
    is_done: bool,
}

/// Most blocks of an answer: each delta searches for its own.
const MOST_BLOCKS: usize = 10_000;

impl Decoder for MessagesDecoder {
    const END: &'static str = "`message_stop`";
    const FORM: &'static str = "an answer of the Messages API";

    fn data(&mut self, data: &[u8], events: &mut EventQueue) -> Result<EventUse> {
        let Ok(chunk) = serde_json::from_slice::<MessagesEvent<'_>>(data) else {
            return Ok(EventUse::Unread);
        };
        let index = chunk.index.as_ref().and_then(number);
        match &*chunk.kind.0 {
            "message_start" => {
                self.has_begun = true;
                let Some(message) = chunk.message else { return Ok(EventUse::Used) };
                self.count(message.get("usage"));
                if message
                    .get("content")
                    .is_some_and(|content| content.as_array().is_some_and(|all| !all.is_empty()))
                {
                    self.replay_budget.count(data)?;
                    self.blocks_of(&message, events)?;
                }
            }
            "content_block_start" => {
                if let Some(Value::Object(fields)) = chunk.content_block {
                    self.replay_budget.count(data)?;
                    self.start(index, fields, events)?;
                }
            }
            "content_block_delta" | "" => {
                let Some(delta) = chunk.delta.0 else { return Ok(EventUse::Unused) };
                if delta.text.0.is_empty() && delta.thinking.0.is_empty() {
                    self.replay_budget.count(data)?;
                }
                return self.delta(index, *delta, events);
            }
            "content_block_stop" => self.end_block(index, events),
            "message_delta" => {
                self.count(chunk.usage.as_ref());
                if let Some(delta) = chunk.delta.0 {
                    self.stop =
                        delta.stop_reason.as_ref().and_then(FinishReason::word_in).or(self.stop.take());
                    self.stop_details = delta.stop_details.or(self.stop_details.take());
                }
            }
            "message_stop" => return Ok(EventUse::End),
            // `ping`, errors, and future events.
            _ => return Ok(EventUse::Unused),
        }
        self.has_begun = true;
        Ok(EventUse::Used)
    }

    fn document(&mut self, whole: &Value, events: &mut EventQueue) -> Result<bool> {
        if !whole.get("content").is_some_and(|content| content.is_array() || content.is_string()) {
            return Ok(false);
        }
        self.has_begun = true;
        self.blocks_of(whole, events)?;
        self.count(whole.get("usage"));
        let stop = whole.get("stop_reason").and_then(FinishReason::word_in);
        self.stop = Some(stop.unwrap_or_else(|| "end_turn".to_owned()));
        self.stop_details = whole.get("stop_details").cloned();
        Ok(true)
    }

    fn finish(&mut self, events: &mut EventQueue) -> Result<()> {
        self.is_done = true;
        if self.stop.as_deref() == Some("refusal") {
            return Err(refusal(self.stop_details.take()));
        }
        self.hand_on(events);
        Ok(())
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn has_finish(&self) -> bool {
        self.stop.is_some()
    }

    fn failure_reason(&self) -> Option<&str> {
        self.stop.as_deref().filter(|word| FinishReason::is_failure(word))
    }

    fn is_finishing(&self) -> bool {
        self.stop.is_some() && (self.has_more || self.blocks.is_empty())
    }
}

/// Parses an index of any form.
fn number(index: &Value) -> Option<u64> {
    let number = index.as_f64().or_else(|| index.as_str()?.trim().parse().ok())?;
    (number >= 0.0).then_some(number as u64)
}

impl MessagesDecoder {
    pub(super) fn new(tools: &[ToolSpec]) -> MessagesDecoder {
        MessagesDecoder { names: ToolNames::new(tools), ..MessagesDecoder::default() }
    }

    /// Handles the blocks of a whole message.
    fn blocks_of(&mut self, message: &Value, events: &mut EventQueue) -> Result<()> {
        let text;
        let blocks = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.as_slice(),
            Some(Value::String(all)) => {
                text = [json!({"type": "text", "text": all})];
                &text
            }
            _ => return Ok(()),
        };
        for (index, block) in (0..).zip(blocks) {
            if let Value::Object(fields) = block {
                self.start(Some(index), fields.clone(), events)?;
                self.end_block(Some(index), events);
            }
        }
        Ok(())
    }

    fn start(
        &mut self,
        index: Option<u64>,
        mut fields: Map<String, Value>,
        events: &mut EventQueue,
    ) -> Result<()> {
        let text_field = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let kind = match (text_field("type").as_str(), fields.contains_key("text")) {
            ("", true) => "text".to_owned(),
            (kind, _) => kind.to_owned(),
        };
        match kind.as_str() {
            "text" => {
                self.has_more |= !text_field("text").trim().is_empty();
                TextKind::Text.push_event(&text_field("text"), events);
            }
            "thinking" => TextKind::Thinking.push_event(&text_field("thinking"), events),
            _ => self.has_more |= kind.ends_with("tool_use"),
        }
        fields.insert("type".to_owned(), kind.into());
        self.push(index, fields).map(drop)
    }

    fn push(&mut self, index: Option<u64>, fields: Map<String, Value>) -> Result<usize> {
        if self.blocks.len() >= MOST_BLOCKS {
            return Err(Error::remote(format!("the answer has more than {MOST_BLOCKS} blocks")));
        }
        let next = || self.blocks.iter().map(|block| block.index.saturating_add(1)).max().unwrap_or_default();
        let index = index.unwrap_or_else(next);
        self.blocks.push(ReceivedBlock::new(index, fields));
        Ok(self.blocks.len() - 1)
    }

    /// Returns the block of this kind that a delta belongs to: by its index, else the open one, else a new one.
    fn block(&mut self, index: Option<u64>, kind: &str) -> Result<&mut ReceivedBlock> {
        let is_it = |block: &ReceivedBlock| block.has_type(kind);
        let at = match index {
            Some(index) => self.blocks.iter().rposition(|block| block.index == index && is_it(block)),
            None => self
                .blocks
                .len()
                .checked_sub(1)
                .filter(|&at| is_it(&self.blocks[at]) && !self.blocks[at].has_ended),
        };
        let at = match at {
            Some(at) => at,
            None => self.push(index, Map::from_iter([("type".to_owned(), kind.into())]))?,
        };
        Ok(&mut self.blocks[at])
    }

    fn delta(
        &mut self,
        index: Option<u64>,
        delta: MessagesDelta<'_>,
        events: &mut EventQueue,
    ) -> Result<EventUse> {
        let mut taken = EventUse::Unused;
        let is_thought = delta.kind.0.starts_with("thinking") || delta.kind.0.starts_with("reasoning");
        for (text, field) in [(&delta.text.0, "text"), (&delta.thinking.0, "thinking")] {
            if text.is_empty() {
                continue;
            }
            taken = EventUse::Used;
            let is_text = field == "text" && !is_thought;
            let (field, kind) =
                if is_text { ("text", TextKind::Text) } else { ("thinking", TextKind::Thinking) };
            self.has_more |= is_text && !text.trim().is_empty();
            self.block(index, field)?.append(field, text);
            kind.push_event(text, events);
        }
        if !delta.signature.0.is_empty() {
            taken = EventUse::Used;
            self.block(index, "thinking")?.append("signature", &delta.signature.0);
        }
        let json = match delta.partial_json {
            Some(Value::String(text)) => text,
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => String::new(),
        };
        if !json.is_empty() {
            let is_call = |block: &&mut ReceivedBlock| {
                block.is_call() && index.is_none_or(|index| block.index == index)
            };
            if let Some(block) = self.blocks.iter_mut().rev().find(is_call) {
                taken = EventUse::Used;
                block.json.add(&json);
            }
        }
        if let Some(citation) = delta.citation.filter(Value::is_object) {
            taken = EventUse::Used;
            let block = self.block(index, "text")?;
            match block.fields.get_mut("citations") {
                Some(Value::Array(all)) => all.push(citation),
                _ => {
                    block.fields.insert("citations".to_owned(), json!([citation]));
                }
            }
        }
        self.has_begun |= taken == EventUse::Used;
        Ok(taken)
    }

    /// Completes a block: by its index, or the last one.
    fn end_block(&mut self, index: Option<u64>, events: &mut EventQueue) {
        let is_it = |block: &&mut ReceivedBlock| index.is_none_or(|index| block.index == index);
        if let Some(block) = self.blocks.iter_mut().rev().find(is_it) {
            block.has_ended = true;
            if block.has_type("server_tool_use") {
                block.call(&self.names);
            }
            self.fetched.end_block(&block.fields, events);
        }
    }

    /// Adds later token counts; a missing count does not change the stored one.
    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let kept = self.tokens;
        let later = |name: &str, kept: Option<u64>| usage.get(name).and_then(tokens).or(kept);
        self.tokens = Tokens {
            input_tokens: later("input_tokens", kept.input_tokens),
            output_tokens: later("output_tokens", kept.output_tokens),
            cache_read_input_tokens: later("cache_read_input_tokens", kept.cache_read_input_tokens),
            cache_creation_input_tokens: later(
                "cache_creation_input_tokens",
                kept.cache_creation_input_tokens,
            ),
            web: usage.get("server_tool_use").map(web_requests).or(kept.web),
        };
    }

    /// Emits the calls, after the message that contains them as received.
    fn hand_on(&mut self, events: &mut EventQueue) {
        let mut calls: Vec<ToolCall> = Vec::new();
        let names = &self.names;
        // A repeated call is a single call.
        self.blocks.retain_mut(|block| match block.call(names) {
            Some(call) if !call.id.is_empty() && calls.contains(&call) => false,
            Some(call) => {
                calls.push(call);
                true
            }
            None => true,
        });
        let ids = own_ids(calls.iter().map(|call| call.id.clone()).collect());
        let own = self.blocks.iter_mut().filter(|block| block.has_type("tool_use"));
        for ((call, id), block) in calls.iter_mut().zip(ids).zip(own) {
            block.fields.insert("id".to_owned(), id.clone().into());
            call.id = id;
        }
        // A pause for tools that the server runs itself.
        let paused = self.stop.as_deref() == Some("pause_turn") && calls.is_empty();
        let mut message = None;
        if !calls.is_empty() || paused {
            let content: Vec<Value> = self
                .blocks
                .drain(..)
                .filter(|block| !block.is_blank())
                .map(|block| block.fields.into())
                .collect();
            message = Some(ProviderMessage::new(json!({"role": "assistant", "content": content})));
        }
        if !paused {
            events.extend(message.take().map(ChatEvent::Replay));
            events.extend(calls.into_iter().map(ChatEvent::ToolCall));
        }
        let Tokens { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens, web } =
            self.tokens;
        let parts = [input_tokens, cache_read_input_tokens, cache_creation_input_tokens];
        let usage = Usage {
            // The API does not include cached tokens in this count.
            input: input_tokens.map(|_| parts.into_iter().flatten().fold(0, u64::saturating_add)),
            output: output_tokens,
            cached: cache_read_input_tokens,
            cache_write: cache_creation_input_tokens,
            web: web.filter(|&web| web > 0),
        };
        if usage != Usage::default() {
            events.push_back(ChatEvent::Usage(usage));
        }
        let finish = || ChatEvent::Done(FinishReason::from_word(self.stop.as_deref().unwrap_or("end_turn")));
        events.push_back(message.map_or_else(finish, ChatEvent::Paused));
    }
}

/// Counts the searches and fetches of an answer.
fn web_requests(usage: &Value) -> u64 {
    let count = |name: &str| usage.get(name).and_then(tokens).unwrap_or_default();
    count("web_search_requests").saturating_add(count("web_fetch_requests"))
}

/// Creates the error for a model that declines to answer.
fn refusal(details: Option<Value>) -> Error {
    let details = details.unwrap_or_default();
    let reasons: Vec<String> =
        ["category", "explanation"].iter().filter_map(|key| error_excerpt(details.get(*key)?)).collect();
    let suffix = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(": ")) };
    Error::remote(format!("the model refused to answer{suffix}"))
        .hint(Hint::from("ask differently, or another model: ").command(HintCommand::OtherModel))
}
