//! The log of a model's answer at debug level. A text is logged as a whole, because a secret cannot be found in pieces.

use tracing::Level;

use super::ChatEvent;
use super::error_text::hide_key;
use lepo_base::secret::Secret;

/// The log of an answer.
pub(super) struct AnswerLog {
    key: Option<Secret>,
    /// Text that has not been logged yet.
    text: String,
    is_thinking: bool,
}

impl AnswerLog {
    pub fn new(key: Option<Secret>) -> AnswerLog {
        AnswerLog { key, text: String::new(), is_thinking: false }
    }

    pub fn on_event(&mut self, event: &ChatEvent) {
        if !tracing::enabled!(Level::DEBUG) {
            return;
        }
        let (ChatEvent::Text(text) | ChatEvent::Thinking(text)) = event else {
            self.log_text();
            return self.log_event(event);
        };
        let is_thinking = matches!(event, ChatEvent::Thinking(_));
        if is_thinking != self.is_thinking {
            self.log_text();
        }
        self.is_thinking = is_thinking;
        self.text.push_str(text);
    }

    fn log_event(&self, event: &ChatEvent) {
        let text = match event {
            ChatEvent::ToolCall(call) => format!("ToolCall {} {}", call.name, call.arguments),
            ChatEvent::AgentCall(call) => format!("AgentCall {} {} {}", call.title, call.input, call.result),
            // The calls themselves follow.
            ChatEvent::Replay(_) | ChatEvent::Paused(_) | ChatEvent::AgentCallOpen(_) => return,
            event => format!("{event:?}"),
        };
        tracing::debug!(event = %hide_key(&text, self.key.as_ref()), "answer");
    }

    fn log_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            let what = if self.is_thinking { "Thinking" } else { "Text" };
            tracing::debug!(event = %hide_key(&format!("{what} {text}"), self.key.as_ref()), "answer");
        }
    }
}

/// An answer that ends early logs its text too.
impl Drop for AnswerLog {
    fn drop(&mut self) {
        self.log_text();
    }
}
