//! OpenAI's Responses API: what comes back, a stream of events or one response.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::credit::{PAYMENT_REQUIRED, says_used_up};
use crate::error_text::{excerpt, words};
use crate::event::{Event, Events, Finish, TextKind, Usage, tokens};
use crate::kept::Kept;
use crate::message::{self, ToolCall};
use crate::reader::Refused;
use crate::replay::Replay;
use crate::sse_answer::{Decoder, not_understood};
use crate::web::{Citation, WebCall};
use lepo_base::error::{Error, Result};

/// One event, as far as it is used.
#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    delta: Cow<'a, str>,
    annotation: Option<Value>,
    item: Option<Value>,
    response: Option<Value>,
    summary_index: Option<usize>,
    error: Option<Value>,
    message: Option<Value>,
    code: Option<Value>,
}

/// The answer so far.
#[derive(Default)]
pub struct ResponsesDecoder {
    items: Vec<Value>,
    kept: Kept,
    /// Text of the item that is being received has come.
    texted: bool,
    /// Searches so far.
    web: u64,
    refused: Option<Refused>,
    begun: bool,
    done: bool,
}

const FORM: &str = "answer of the Responses API";

impl Decoder for ResponsesDecoder {
    const END: &'static str = "`response.completed`";
    const FORM: &'static str = FORM;

    fn data(&mut self, data: &[u8], events: &mut Events) -> Result<()> {
        // Some servers end with it all the same.
        if data.trim_ascii_end() == b"[DONE]" {
            return Ok(());
        }
        let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|_| not_understood(FORM, data))?;
        self.begun |= chunk.kind.starts_with("response.");
        match chunk.kind.as_ref() {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.texted = true;
                TextKind::Text.say(&chunk.delta, events);
            }
            "response.output_text.annotation.added" => {
                events.extend(chunk.annotation.as_ref().and_then(citation).map(Event::Citation));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                TextKind::Thinking.say(&chunk.delta, events);
            }
            "response.reasoning_summary_part.added" if chunk.summary_index.unwrap_or_default() > 0 => {
                events.push_back(Event::Thinking("\n\n".to_owned()));
            }
            "response.output_item.done" => {
                if let Some(item) = chunk.item {
                    self.kept.count(data)?;
                    self.item(item, events);
                }
            }
            "response.completed" | "response.incomplete" => {
                self.finish(&chunk.response.unwrap_or_default(), events);
            }
            "response.failed" => {
                let error = chunk.response.and_then(|mut response| Some(response.get_mut("error")?.take()));
                return Err(self.failed(error.unwrap_or_default()));
            }
            "error" => {
                let error = chunk
                    .error
                    .unwrap_or_else(|| serde_json::json!({"code": chunk.code, "message": chunk.message}));
                return Err(self.failed(error));
            }
            _ => {
                if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
                    return Err(self.failed(error));
                }
            }
        }
        Ok(())
    }

    fn document(&mut self, data: &[u8], events: &mut Events) -> Result<()> {
        let mut whole: Value = serde_json::from_slice(data).map_err(|_| not_understood(FORM, data))?;
        if let Some(error) = whole.get_mut("error").map(Value::take).filter(|error| !error.is_null()) {
            return Err(self.failed(error));
        }
        let Some(Value::Array(items)) = whole.get_mut("output").map(Value::take) else { return Ok(()) };
        self.begun = true;
        items.into_iter().for_each(|item| self.item(item, events));
        self.finish(&whole, events);
        Ok(())
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

impl ResponsesDecoder {
    /// An item is whole. A message whose text was not streamed says it now.
    fn item(&mut self, item: Value, events: &mut Events) {
        let streamed = std::mem::take(&mut self.texted);
        if item["type"] == "message" && !streamed {
            for part in item["content"].as_array().into_iter().flatten() {
                let text = part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default();
                TextKind::Text.say(text, events);
                let cited = part["annotations"].as_array().into_iter().flatten();
                events.extend(cited.filter_map(citation).map(Event::Citation));
            }
        }
        if item["type"] == "web_search_call" {
            self.web += 1;
            let action = &item["action"];
            let about = ["query", "url", "pattern"].iter().find_map(|name| action[*name].as_str());
            let about = about.unwrap_or_default().to_owned();
            events.push_back(Event::WebCall(WebCall { tool: "web_search".to_owned(), about }));
        }
        self.items.push(item);
    }

    fn finish(&mut self, response: &Value, events: &mut Events) {
        self.done = true;
        if self.items.is_empty() {
            // A server that tells its items only here.
            let items = response["output"].as_array().cloned().unwrap_or_default();
            items.into_iter().for_each(|item| self.item(item, events));
        }
        let calls: Vec<ToolCall> = self.items.iter().filter_map(call).collect();
        let mut finish = match response["incomplete_details"]["reason"].as_str() {
            Some(reason) => Finish::from_word(reason),
            None if calls.is_empty() => Finish::Stop,
            None => Finish::ToolCalls,
        };
        if !calls.is_empty() {
            let items = std::mem::take(&mut self.items);
            events.push_back(Event::Replay(Replay::new(Value::Array(items))));
            events.extend(calls.into_iter().map(Event::ToolCall));
            finish = Finish::ToolCalls;
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
            events.push_back(Event::Usage(usage));
        }
        events.push_back(Event::Done(finish));
    }

    /// The error for a response that failed. Its code says the HTTP status that it would have had.
    fn failed(&mut self, error: Value) -> Error {
        let words = words(&error).unwrap_or_else(|| excerpt(error.to_string().as_bytes()));
        let code = error["code"].as_str().or(error["type"].as_str()).unwrap_or_default();
        let status = match code {
            _ if says_used_up(&error) => Some(PAYMENT_REQUIRED),
            "rate_limit_exceeded" | "rate_limit_error" => Some(429),
            "server_error" | "api_error" => Some(500),
            "overloaded_error" | "server_is_overloaded" | "slow_down" => Some(503),
            "context_length_exceeded" | "invalid_prompt" | "invalid_request_error" => Some(400),
            "exceed_context_size_error" => Some(400),
            _ => error["code"].as_u64(),
        };
        self.refused = status.and_then(|status| Refused::new(status, &format!("{words} ({code})")));
        Error::remote(format!("the model failed: {words}")).ask_again()
    }
}

/// The page that an annotation names.
fn citation(annotation: &Value) -> Option<Citation> {
    let text = |name: &str| annotation[name].as_str().map(str::to_owned);
    let url = text("url").filter(|_| annotation["type"] == "url_citation")?;
    Some(Citation { title: text("title").unwrap_or_default(), url })
}

/// The call that an item is.
fn call(item: &Value) -> Option<ToolCall> {
    if item["type"] != "function_call" {
        return None;
    }
    let text = |name: &str| Some(item[name].as_str()?.to_owned());
    Some(ToolCall {
        id: text("call_id").or_else(|| text("id"))?,
        name: text("name")?,
        arguments: message::arguments(item["arguments"].as_str().unwrap_or_default()),
    })
}
