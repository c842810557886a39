//! Answers of Anthropic's Messages.

use serde_json::Value;

use super::chat::error_text;
use super::update::{AnswerUpdate, CallUpdate, FinishWord, TokenCounts, push_items};
use crate::request::{MessageItem, items_of, messages_block, text_of};

/// Reads the events of a stream, or a whole answer.
#[derive(Debug, Default)]
pub struct MessagesUpdates {
    /// The block before was text: a blank line comes between the two.
    was_text: bool,
}

impl MessagesUpdates {
    /// Reads an event of a stream.
    pub fn read_event(&mut self, event: &Value, to: &mut Vec<AnswerUpdate>) {
        let null = Value::Null;
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        match text_of(event, "type") {
            "message_start" => read_message(event.get("message").unwrap_or(&null), to),
            "content_block_start" => {
                self.start_block(index, event.get("content_block").unwrap_or(&null), to);
            }
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&null);
                match text_of(delta, "type") {
                    "text_delta" => to.push(AnswerUpdate::Text(0, text_of(delta, "text").to_string())),
                    "thinking_delta" => {
                        to.push(AnswerUpdate::Thinking(0, text_of(delta, "thinking").to_string()));
                    }
                    "input_json_delta" => to.push(AnswerUpdate::Call(
                        0,
                        CallUpdate {
                            key: index.to_string(),
                            input: text_of(delta, "partial_json").to_string(),
                            ..CallUpdate::default()
                        },
                    )),
                    _ => {}
                }
            }
            "message_delta" => {
                let delta = event.get("delta").unwrap_or(&null);
                push_finish(delta, to);
                push_usage(event.get("usage").unwrap_or(&null), to);
            }
            "message_stop" => to.push(AnswerUpdate::End),
            "error" => to.push(AnswerUpdate::Failed(error_text(event.get("error").unwrap_or(event)))),
            _ => {}
        }
    }

    /// Reads a whole answer.
    pub fn read_whole(&mut self, message: &Value, to: &mut Vec<AnswerUpdate>) {
        if text_of(message, "type") == "error" {
            to.push(AnswerUpdate::Failed(error_text(message.get("error").unwrap_or(message))));
            return;
        }
        read_message(message, to);
        for (index, block) in items_of(message.get("content").unwrap_or(&Value::Null)).iter().enumerate() {
            self.start_block(index as u64, block, to);
        }
        push_finish(message, to);
        if message.get("content").is_some_and(Value::is_array) {
            to.push(AnswerUpdate::End);
        }
    }

    fn start_block(&mut self, index: u64, block: &Value, to: &mut Vec<AnswerUpdate>) {
        let kind = text_of(block, "type");
        // Encrypted thinking has no text, so the texts around it are joined.
        if kind == "redacted_thinking" {
            return;
        }
        let was_text = std::mem::replace(&mut self.was_text, kind == "text");
        if kind == "text" && was_text {
            to.push(AnswerUpdate::Text(0, "\n\n".to_string()));
        }
        let mut items = messages_block(block);
        // The arguments of a call come in pieces, and the block begins with an empty object.
        for item in &mut items {
            if let MessageItem::Call(call) = item {
                if call.input == "{}" {
                    call.input.clear();
                }
                to.push(AnswerUpdate::Call(
                    0,
                    CallUpdate {
                        key: index.to_string(),
                        id: std::mem::take(&mut call.id),
                        name: std::mem::take(&mut call.name),
                        input: std::mem::take(&mut call.input),
                        is_whole: true,
                    },
                ));
            }
        }
        items.retain(|item| !matches!(item, MessageItem::Call(_)));
        push_items(0, items, to);
    }
}

fn read_message(message: &Value, to: &mut Vec<AnswerUpdate>) {
    let id = text_of(message, "id");
    if !id.is_empty() {
        to.push(AnswerUpdate::Response(id.to_string()));
    }
    push_usage(message.get("usage").unwrap_or(&Value::Null), to);
}

fn push_finish(from: &Value, to: &mut Vec<AnswerUpdate>) {
    let reason = text_of(from, "stop_reason");
    if !reason.is_empty() {
        to.push(AnswerUpdate::Finish(0, FinishWord::parse(reason)));
    }
}

/// Adds the token counts. On this wire `input_tokens` excludes cached tokens.
fn push_usage(usage: &Value, to: &mut Vec<AnswerUpdate>) {
    let number = |key: &str| usage.get(key).and_then(Value::as_u64);
    let (cached, cache_write) = (number("cache_read_input_tokens"), number("cache_creation_input_tokens"));
    let input = number("input_tokens").map(|input| {
        input.saturating_add(cached.unwrap_or_default()).saturating_add(cache_write.unwrap_or_default())
    });
    let output = number("output_tokens");
    to.push(AnswerUpdate::Usage(TokenCounts { input, cached, cache_write, output }));
}
