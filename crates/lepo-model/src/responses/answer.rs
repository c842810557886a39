//! Decodes answers of OpenAI's Responses API: a stream of events, or one response.

use serde::Deserialize;
use serde_json::{Value, json};

use super::items::ResponseItems;
use crate::event::{ChatEvent, Citation, EventQueue, FinishReason, TextKind, Usage, WebCall, tokens};
use crate::failure::failure_in;
use crate::loose_fields::FlexibleText;
use crate::message::ToolSpec;
use crate::replay::{ProviderMessage, ReplayBudget};
use crate::sse_answer::{Decoder, EventUse};
use crate::tool_names::ToolNames;
use lepo_base::error::Result;

/// The used fields of one event. A field of an unexpected type is treated as missing.
#[derive(Deserialize)]
struct ResponsesEvent<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: FlexibleText<'a>,
    #[serde(default, borrow)]
    delta: FlexibleText<'a>,
    #[serde(default, borrow)]
    text: FlexibleText<'a>,
    #[serde(default, borrow)]
    refusal: FlexibleText<'a>,
    annotation: Option<Value>,
    item: Option<Value>,
    item_id: Option<Value>,
    output_index: Option<Value>,
    arguments: Option<Value>,
    name: Option<Value>,
    response: Option<Value>,
    summary_index: Option<Value>,
}

#[derive(Default)]
pub struct ResponsesDecoder {
    items: ResponseItems,
    names: ToolNames,
    replay_budget: ReplayBudget,
    /// Whether text of the current item has arrived.
    texted: bool,
    /// Whether thinking of the current item has arrived.
    has_thought: bool,
    /// The number of searches so far.
    web: u64,
    /// The response in its last event.
    response: Option<Value>,
    has_begun: bool,
    is_done: bool,
}

impl Decoder for ResponsesDecoder {
    const END: &'static str = "`response.completed`";
    const FORM: &'static str = "answer of the Responses API";

    fn data(&mut self, data: &[u8], events: &mut EventQueue) -> Result<EventUse> {
        let Ok(chunk) = serde_json::from_slice::<ResponsesEvent<'_>>(data) else {
            return Ok(EventUse::Unread);
        };
        match &*chunk.kind.0 {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.texted |= !chunk.delta.0.is_empty();
                TextKind::Text.push_event(&chunk.delta.0, events);
            }
            // A text that was not streamed.
            "response.output_text.done" | "response.refusal.done" => {
                let text = if chunk.text.0.is_empty() { &chunk.refusal.0 } else { &chunk.text.0 };
                if !self.texted && !text.is_empty() {
                    self.texted = true;
                    TextKind::Text.push_event(text, events);
                }
            }
            "response.output_text.annotation.added" => {
                events.extend(chunk.annotation.as_ref().and_then(citation).map(ChatEvent::Citation));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.has_thought |= !chunk.delta.0.is_empty();
                TextKind::Thinking.push_event(&chunk.delta.0, events);
            }
            // Thinking that was not streamed.
            "response.reasoning_summary_text.done" | "response.reasoning_text.done" => {
                if !self.has_thought && !chunk.text.0.is_empty() {
                    self.has_thought = true;
                    TextKind::Thinking.push_event(&chunk.text.0, events);
                }
            }
            "response.reasoning_summary_part.added" => {
                if chunk.summary_index.as_ref().and_then(Value::as_f64).unwrap_or_default() > 0.0 {
                    events.push_back(ChatEvent::Thinking("\n\n".to_owned()));
                }
            }
            "response.output_item.added" => {
                if let Some(item @ Value::Object(_)) = chunk.item {
                    self.replay_budget.count(data)?;
                    self.items.start_item(chunk.output_index.as_ref(), item);
                }
            }
            "response.function_call_arguments.delta" => {
                self.replay_budget.count(data)?;
                let position = (chunk.item_id.as_ref(), chunk.output_index.as_ref());
                self.items.add_arguments(position, &chunk.delta.0);
            }
            "response.function_call_arguments.done" => {
                self.replay_budget.count(data)?;
                let position = (chunk.item_id.as_ref(), chunk.output_index.as_ref());
                self.items.set_arguments(position, chunk.arguments.as_ref(), chunk.name.as_ref());
            }
            "response.output_item.done" => {
                if let Some(item @ Value::Object(_)) = chunk.item {
                    self.replay_budget.count(data)?;
                    self.push_item(&item, events);
                    self.items.end(chunk.output_index.as_ref(), item);
                }
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                self.response = Some(chunk.response.unwrap_or_default());
                self.has_begun = true;
                return Ok(EventUse::End);
            }
            "response.failed" | "response.cancelled" => {
                let error = chunk.response.as_ref().and_then(|response| failure_in(response, false));
                if error.is_some() {
                    return Ok(EventUse::Unused);
                }
                self.response = Some(json!({"status": "failed"}));
                return Ok(EventUse::End);
            }
            kind => {
                self.has_begun |= kind.starts_with("response.");
                return Ok(EventUse::Unused);
            }
        }
        self.has_begun = true;
        Ok(EventUse::Used)
    }

    fn document(&mut self, whole: &Value, _: &mut EventQueue) -> Result<bool> {
        let Some(Value::Array(items)) = whole.get("output") else { return Ok(false) };
        if items.is_empty() && failure_in(whole, false).is_some() {
            return Ok(false);
        }
        self.has_begun = true;
        self.response = Some(whole.clone());
        Ok(true)
    }

    fn finish(&mut self, events: &mut EventQueue) -> Result<()> {
        self.is_done = true;
        let response = self.response.take().unwrap_or_default();
        self.hand_on(&response, events);
        Ok(())
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn has_finish(&self) -> bool {
        self.response.is_some()
    }

    fn failure_reason(&self) -> Option<&str> {
        let response = self.response.as_ref()?;
        let reason = response.pointer("/incomplete_details/reason").or(response.get("status"))?.as_str()?;
        Some(reason).filter(|reason| FinishReason::is_failure(reason))
    }
}

impl ResponsesDecoder {
    pub(super) fn new(tools: &[ToolSpec]) -> ResponsesDecoder {
        ResponsesDecoder { names: ToolNames::new(tools), ..ResponsesDecoder::default() }
    }

    /// Handles a complete item. Emits the text of a message that was not streamed.
    fn push_item(&mut self, item: &Value, events: &mut EventQueue) {
        let streamed = std::mem::take(&mut self.texted);
        self.has_thought = false;
        if item["type"] == "message" && !streamed {
            let content = &item["content"];
            TextKind::Text.push_event(content.as_str().unwrap_or_default(), events);
            for part in content.as_array().into_iter().flatten() {
                let text = part["text"].as_str().or(part["refusal"].as_str()).or(part.as_str());
                TextKind::Text.push_event(text.unwrap_or_default(), events);
                let cited = part["annotations"].as_array().into_iter().flatten();
                events.extend(cited.filter_map(citation).map(ChatEvent::Citation));
            }
        }
        if item["type"] == "web_search_call" {
            self.web += 1;
            let action = &item["action"];
            let about = ["query", "url", "pattern"].iter().find_map(|name| action[*name].as_str());
            let about = about.unwrap_or_default().to_owned();
            events.push_back(ChatEvent::WebCall(WebCall { tool: "web_search".to_owned(), about }));
        }
    }

    fn hand_on(&mut self, response: &Value, events: &mut EventQueue) {
        // Some servers send all or some items only here.
        let items = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
        for item in items.iter().filter(|item| item.is_object()) {
            if self.items.is_new(item) {
                self.push_item(item, events);
                self.items.end(None, item.clone());
            }
        }
        let (calls, items) = std::mem::take(&mut self.items).into_calls(&self.names);
        let mut finish = match response["incomplete_details"]["reason"].as_str() {
            Some(reason) => FinishReason::from_word(reason),
            None => FinishReason::Stop,
        };
        if !calls.is_empty() {
            events.push_back(ChatEvent::Replay(ProviderMessage::new(Value::Array(items))));
            events.extend(calls.into_iter().map(ChatEvent::ToolCall));
            finish = FinishReason::ToolCalls;
        }
        let usage = &response["usage"];
        let usage = Usage {
            input: tokens(&usage["input_tokens"]),
            output: tokens(&usage["output_tokens"]),
            cached: tokens(&usage["input_tokens_details"]["cached_tokens"]),
            cache_write: None,
            web: Some(self.web).filter(|&web| web > 0),
        };
        if usage != Usage::default() {
            events.push_back(ChatEvent::Usage(usage));
        }
        events.push_back(ChatEvent::Done(finish));
    }
}

fn citation(annotation: &Value) -> Option<Citation> {
    let text = |name: &str| annotation[name].as_str().map(str::to_owned);
    let url = text("url").filter(|_| annotation["type"] == "url_citation")?;
    Some(Citation { title: text("title").unwrap_or_default(), url })
}
