//! Answers of Chat Completions.

use serde_json::Value;

use super::update::{AnswerUpdate, CallUpdate, FinishWord, TokenCounts, push_items};
use crate::request::{chat_message, items_of, text_of};

/// Reads an event of a stream; `[DONE]` is the end.
pub fn read_event(event: &Value, to: &mut Vec<AnswerUpdate>) {
    read_common(event, to);
    for choice in items_of(event.get("choices").unwrap_or(&Value::Null)) {
        let index = choice_index(choice);
        let null = Value::Null;
        let delta = choice.get("delta").unwrap_or(&null);
        for key in ["reasoning_content", "reasoning", "thinking"] {
            let thought = text_of(delta, key);
            if !thought.is_empty() {
                to.push(AnswerUpdate::Thinking(index, thought.to_string()));
                break;
            }
        }
        for key in ["content", "refusal"] {
            let text = text_of(delta, key);
            if !text.is_empty() {
                to.push(AnswerUpdate::Text(index, text.to_string()));
            }
        }
        for (position, call) in items_of(delta.get("tool_calls").unwrap_or(&null)).iter().enumerate() {
            to.push(AnswerUpdate::Call(index, call_update(call, position)));
        }
        if let Some(call) = delta.get("function_call").filter(|call| call.is_object()) {
            to.push(AnswerUpdate::Call(index, call_update(call, 0)));
        }
        push_finish(choice, index, to);
    }
}

/// Reads a whole answer.
pub fn read_whole(answer: &Value, to: &mut Vec<AnswerUpdate>) {
    read_common(answer, to);
    for choice in items_of(answer.get("choices").unwrap_or(&Value::Null)) {
        let index = choice_index(choice);
        let mut message = choice.get("message").cloned().unwrap_or(Value::Null);
        if let Some(message) = message.as_object_mut() {
            message.insert("role".into(), "assistant".into());
        }
        push_items(index, chat_message(&message).parts, to);
        push_finish(choice, index, to);
    }
    if answer.get("choices").is_some_and(Value::is_array) {
        to.push(AnswerUpdate::End);
    }
}

fn read_common(value: &Value, to: &mut Vec<AnswerUpdate>) {
    let id = text_of(value, "id");
    if !id.is_empty() {
        to.push(AnswerUpdate::Response(id.to_string()));
    }
    if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
        to.push(AnswerUpdate::Usage(TokenCounts::read(usage, "prompt_tokens", "completion_tokens")));
    }
    if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
        to.push(AnswerUpdate::Failed(error_text(error)));
    }
}

/// Returns what an error says.
pub fn error_text(error: &Value) -> String {
    let message = error.as_str().unwrap_or_else(|| text_of(error, "message"));
    if message.is_empty() { error.to_string() } else { message.to_string() }
}

fn choice_index(choice: &Value) -> usize {
    let index = choice.get("index").and_then(Value::as_u64).unwrap_or_default();
    usize::try_from(index).unwrap_or_default()
}

fn push_finish(choice: &Value, index: usize, to: &mut Vec<AnswerUpdate>) {
    let reason = text_of(choice, "finish_reason");
    if !reason.is_empty() {
        to.push(AnswerUpdate::Finish(index, FinishWord::parse(reason)));
    }
}

/// Reads a piece of a call. A server that sends no index sends each call whole, with an id or in its order.
fn call_update(call: &Value, position: usize) -> CallUpdate {
    let function = ["function", "custom"].into_iter().find_map(|key| call.get(key)).unwrap_or(call);
    let index = call.get("index").and_then(Value::as_u64).map(|index| index.to_string());
    let id = text_of(call, "id").to_string();
    let key =
        index.unwrap_or_else(|| if id.is_empty() { format!("position {position}") } else { id.clone() });
    let input = ["arguments", "input"].into_iter().find_map(|key| function.get(key));
    let input = match input {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(value) => value.to_string(),
    };
    CallUpdate { key, id, name: text_of(function, "name").to_string(), input, is_whole: false }
}
