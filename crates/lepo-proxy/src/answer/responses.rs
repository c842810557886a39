//! Answers of OpenAI's Responses.

use std::collections::HashSet;

use serde_json::Value;

use super::chat::error_text;
use super::update::{AnswerUpdate, CallUpdate, FinishWord, TokenCounts, push_items};
use crate::request::{MessageItem, called_name, items_of, responses_item, text_of};

/// Reads the events of a stream, or a whole answer.
#[derive(Debug, Default)]
pub struct ResponsesUpdates {
    /// Indexes of streamed items.
    streamed: HashSet<u64>,
    /// Indexes of complete items.
    finished: HashSet<u64>,
    has_calls: bool,
}

impl ResponsesUpdates {
    /// Reads an event of a stream.
    pub fn read_event(&mut self, event: &Value, to: &mut Vec<AnswerUpdate>) {
        let null = Value::Null;
        let index = event.get("output_index").and_then(Value::as_u64).unwrap_or_default();
        let delta = || text_of(event, "delta").to_string();
        let kind = text_of(event, "type");
        match kind {
            "response.created" | "response.in_progress" => {
                let id = text_of(event.get("response").unwrap_or(&null), "id");
                to.extend((!id.is_empty()).then(|| AnswerUpdate::Response(id.to_string())));
            }
            "response.output_item.added" => {
                let item = event.get("item").unwrap_or(&null);
                match text_of(item, "type") {
                    "message" => to.push(AnswerUpdate::NewText(0)),
                    "function_call" | "custom_tool_call" => {
                        self.has_calls = true;
                        to.push(AnswerUpdate::Call(
                            0,
                            CallUpdate {
                                key: index.to_string(),
                                id: text_of(item, "call_id").to_string(),
                                name: called_name(item),
                                ..CallUpdate::default()
                            },
                        ));
                    }
                    _ => {}
                }
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.streamed.insert(index);
                to.push(AnswerUpdate::Text(0, delta()));
            }
            "response.reasoning_summary_part.added" if self.streamed.contains(&index) => {
                to.push(AnswerUpdate::Thinking(0, "\n\n".to_string()));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.streamed.insert(index);
                to.push(AnswerUpdate::Thinking(0, delta()));
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.streamed.insert(index);
                let key = index.to_string();
                to.push(AnswerUpdate::Call(0, CallUpdate { key, input: delta(), ..CallUpdate::default() }));
            }
            "response.output_item.done" => {
                self.read_item(index, event.get("item").unwrap_or(&null), to);
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.read_whole(event.get("response").unwrap_or(&null), to);
            }
            "error" => to.push(AnswerUpdate::Failed(error_text(event.get("error").unwrap_or(event)))),
            _ => {}
        }
    }

    /// Reads a whole answer; a stream ends with one, too.
    pub fn read_whole(&mut self, response: &Value, to: &mut Vec<AnswerUpdate>) {
        let null = Value::Null;
        let id = text_of(response, "id");
        to.extend((!id.is_empty()).then(|| AnswerUpdate::Response(id.to_string())));
        for (index, item) in items_of(response.get("output").unwrap_or(&null)).iter().enumerate() {
            self.read_item(index as u64, item, to);
        }
        let usage = response.get("usage").unwrap_or(&null);
        to.push(AnswerUpdate::Usage(TokenCounts::read(usage, "input_tokens", "output_tokens")));
        if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
            to.push(AnswerUpdate::Failed(error_text(error)));
            return;
        }
        match text_of(response, "status") {
            "failed" | "cancelled" => to.push(AnswerUpdate::Failed("the response failed".to_string())),
            "incomplete" => {
                let details = response.get("incomplete_details").unwrap_or(&null);
                to.push(AnswerUpdate::Finish(0, FinishWord::parse(text_of(details, "reason"))));
            }
            _ if self.has_calls => to.push(AnswerUpdate::Finish(0, FinishWord::Tools)),
            _ => to.push(AnswerUpdate::Finish(0, FinishWord::Stop)),
        }
        if response.get("output").is_some_and(Value::is_array) || !self.finished.is_empty() {
            to.push(AnswerUpdate::End);
        }
    }

    /// Reads a complete item, except streamed content.
    fn read_item(&mut self, index: u64, item: &Value, to: &mut Vec<AnswerUpdate>) {
        if !self.finished.insert(index) {
            return;
        }
        let kind = text_of(item, "type");
        self.has_calls |= matches!(kind, "function_call" | "custom_tool_call");
        let was_streamed = self.streamed.contains(&index);
        if kind == "message" {
            if !was_streamed {
                to.push(AnswerUpdate::NewText(0));
                let texts = items_of(item.get("content").unwrap_or(&Value::Null)).iter();
                let texts = texts.map(|part| [text_of(part, "text"), text_of(part, "refusal")].concat());
                let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
                to.push(AnswerUpdate::Text(0, texts.join("\n\n")));
            }
            return;
        }
        match responses_item(item) {
            Some(MessageItem::Call(call)) => to.push(AnswerUpdate::Call(
                0,
                CallUpdate {
                    key: index.to_string(),
                    id: call.id,
                    name: call.name,
                    input: call.input,
                    is_whole: true,
                },
            )),
            Some(MessageItem::Thinking(_)) if was_streamed => {}
            // The next request has the item, too: a message of its own.
            Some(MessageItem::Text(text)) => {
                to.extend([AnswerUpdate::NewText(0), AnswerUpdate::Text(0, text)]);
            }
            None => {}
            Some(other) => push_items(0, vec![other], to),
        }
    }
}
