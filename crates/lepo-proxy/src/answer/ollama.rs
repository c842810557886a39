//! Answers of Ollama's chat: one object a line, the last one with `done`; or a single one.

use serde_json::Value;

use super::chat::error_text;
use super::update::{AnswerUpdate, FinishWord, TokenCounts, push_items};
use crate::request::{MessageItem, chat_message, text_of};

/// Reads the lines of an answer.
#[derive(Debug, Default)]
pub struct OllamaUpdates {
    /// The calls so far; each comes whole, in any line.
    calls: usize,
}

impl OllamaUpdates {
    /// Reads a line, or a whole answer.
    pub fn read(&mut self, line: &Value, to: &mut Vec<AnswerUpdate>) {
        if let Some(error) = line.get("error").filter(|error| !error.is_null()) {
            to.push(AnswerUpdate::Failed(error_text(error)));
            return;
        }
        let mut message = line.get("message").cloned().unwrap_or(Value::Null);
        if let Some(message) = message.as_object_mut() {
            message.insert("role".into(), "assistant".into());
            let (calls, items): (Vec<MessageItem>, Vec<MessageItem>) =
                chat_message(&Value::Object(message.clone()))
                    .parts
                    .into_iter()
                    .partition(|item| matches!(item, MessageItem::Call(_)));
            push_items(0, items, to);
            for call in calls {
                let mut updates = Vec::new();
                push_items(0, vec![call], &mut updates);
                for mut update in updates {
                    if let AnswerUpdate::Call(_, call) = &mut update {
                        call.key = self.calls.to_string();
                    }
                    self.calls += 1;
                    to.push(update);
                }
            }
        }
        if line.get("done").and_then(Value::as_bool) != Some(true) {
            return;
        }
        to.push(AnswerUpdate::Usage(TokenCounts::read(line, "prompt_eval_count", "eval_count")));
        // An answer with calls ends with `stop`.
        let finish = match FinishWord::parse(text_of(line, "done_reason")) {
            FinishWord::Stop if self.calls > 0 => FinishWord::Tools,
            finish => finish,
        };
        to.push(AnswerUpdate::Finish(0, finish));
        to.push(AnswerUpdate::End);
    }
}
