//! Events of an answer, the same for every provider.

use serde_json::Value;

use super::agent_types::{AgentCall, AgentQuestion};
use super::message::ToolCall;
use super::notice::ModelNotice;
use super::replay::ProviderMessage;

/// An event of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEvent {
    /// Text of the model's thinking.
    Thinking(String),
    /// Text of the answer.
    Text(String),
    /// All text so far was thinking: its end mark arrived without a start mark.
    WasThinking,
    /// The answer as received, directly before its calls; only if it has any.
    Replay(ProviderMessage),
    /// A complete call.
    ToolCall(ToolCall),
    /// A search or a fetch by the provider's server.
    WebCall(WebCall),
    /// The source page of the preceding text.
    Citation(Citation),
    /// Tokens of the answer so far, if the provider reports them: the last event counts.
    Usage(Usage),
    /// The session of the agent that answers.
    AgentSession(String),
    /// The action that an agent has started, in one line.
    Working(String),
    /// An unfinished tool call of an agent, with the known fields; repeated when more are known.
    AgentCallOpen(AgentCall),
    /// A finished tool call of an agent.
    AgentCall(AgentCall),
    /// An agent asks for permission, and waits for [`AnswerStream::permit`](super::AnswerStream::permit).
    AgentAsks(AgentQuestion),
    /// A notice for the user.
    Notice(ModelNotice),
    /// The model pauses: it continues if it is sent its answer so far. [`AnswerStream`](super::AnswerStream) does that, and
    /// hides this event.
    Paused(ProviderMessage),
    /// The end mark arrived; this is the last event.
    Done(FinishReason),
}

/// Tokens, as counted by the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request, including those from the server's cache.
    pub input: Option<u64>,
    /// Tokens of the request that came from the cache.
    pub cached: Option<u64>,
    /// Tokens of the request that the provider wrote to its cache.
    pub cache_write: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Searches and fetches by the provider's server.
    pub web: Option<u64>,
}

impl Usage {
    /// Adds the tokens of two parts of an answer.
    pub(super) fn plus(self, other: Usage) -> Usage {
        let sum = |a: Option<u64>, b: Option<u64>| {
            a.or(b).map(|_| a.unwrap_or_default().saturating_add(b.unwrap_or_default()))
        };
        Usage {
            input: sum(self.input, other.input),
            cached: sum(self.cached, other.cached),
            cache_write: sum(self.cache_write, other.cache_write),
            output: sum(self.output, other.output),
            web: sum(self.web, other.web),
        }
    }
}

/// Parses a number of tokens. Servers also send floats and strings; any other value is unknown.
pub(super) fn tokens(value: &Value) -> Option<u64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    value.as_u64().or_else(|| number.filter(|n| (0.0..1e15).contains(n)).map(|n| n as u64))
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// The answer was complete.
    Stop,
    /// The answer reached the token limit.
    Length,
    /// Conversation and answer fill the model's window.
    Window,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// Another reason, in the provider's spelling (`content_filter`).
    Other(String),
}

impl FinishReason {
    /// Returns the word for the limit that truncated the answer; `None` if there was none.
    pub fn cut(&self) -> Option<&'static str> {
        match self {
            FinishReason::Length => Some("max_tokens"),
            FinishReason::Window => Some("window"),
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other(_) => None,
        }
    }

    /// Parses a provider's word.
    pub(super) fn from_word(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "stop" | "end_turn" | "eos" | "eos_token" | "end" | "complete" | "completed"
            | "stop_sequence" => FinishReason::Stop,
            "length" | "max_tokens" | "max_output_tokens" | "max_length" => FinishReason::Length,
            "model_context_window_exceeded" | "model_length" => FinishReason::Window,
            "tool_calls" | "tool_call" | "function_call" | "tool_use" => FinishReason::ToolCalls,
            _ => FinishReason::Other(word.to_owned()),
        }
    }

    /// Returns the word of a finish reason, in any form that servers use; `None` if the reason is not known yet.
    pub(super) fn word_in(reason: &Value) -> Option<String> {
        let word = match reason {
            Value::String(word) => word.as_str(),
            Value::Object(fields) => {
                ["type", "reason"].iter().find_map(|name| fields.get(*name)?.as_str())?
            }
            _ => return None,
        };
        let says_nothing =
            ["", "null", "none", "undefined"].iter().any(|none| word.trim().eq_ignore_ascii_case(none));
        (!says_nothing).then(|| word.trim().to_owned())
    }

    pub(super) fn is_failure(word: &str) -> bool {
        const FAILED: &[&str] = &[
            "fail",
            "failed",
            "failure",
            "abort",
            "aborted",
            "cancel",
            "canceled",
            "cancelled",
            "interrupted",
            "disconnect",
            "disconnected",
            "timeout",
            "timed_out",
            "overloaded",
            "insufficient_system_resource",
            "malformed_function_call",
            "malformed_tool_call",
            "unexpected_tool_call",
        ];
        let word = word.to_ascii_lowercase();
        word.contains("error") || FAILED.contains(&word.as_str())
    }
}

pub(super) type EventQueue = std::collections::VecDeque<ChatEvent>;

/// Text events of this size in bytes are not extended further.
const JOINED: usize = 4 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Thinking,
    Text,
}

impl TextKind {
    /// Adds a text of this kind. Texts that arrive together become one event, in however many events the server
    /// sent them.
    pub fn push_event(self, text: &str, events: &mut EventQueue) {
        match (self, events.back_mut()) {
            _ if text.is_empty() => {}
            (TextKind::Thinking, Some(ChatEvent::Thinking(last)))
            | (TextKind::Text, Some(ChatEvent::Text(last)))
                if last.len() < JOINED =>
            {
                last.push_str(text);
            }
            (TextKind::Thinking, _) => events.push_back(ChatEvent::Thinking(text.to_owned())),
            (TextKind::Text, _) => events.push_back(ChatEvent::Text(text.to_owned())),
        }
    }
}

/// A search or a fetch that a provider's server ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebCall {
    /// Name of the tool: `web_search`, `web_fetch`.
    pub tool: String,
    /// The query, or the address.
    pub about: String,
}

/// A page on which the text before this is based.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// Title of the page; empty if the provider sends none.
    pub title: String,
    /// Address of the page.
    pub url: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finish_reason_is_an_end_a_failure_or_nothing_yet() {
        use serde_json::json;
        for (reason, end, is_failure) in [
            (json!("stop"), Some(FinishReason::Stop), false),
            (json!("STOP"), Some(FinishReason::Stop), false),
            (json!({"type": "length", "length": 7}), Some(FinishReason::Length), false),
            (json!("MAX_TOKENS"), Some(FinishReason::Length), false),
            (json!("content_filter"), Some(FinishReason::Other("content_filter".into())), false),
            (json!("network_error"), Some(FinishReason::Other("network_error".into())), true),
            (json!("error"), Some(FinishReason::Other("error".into())), true),
            (
                json!("MALFORMED_FUNCTION_CALL"),
                Some(FinishReason::Other("MALFORMED_FUNCTION_CALL".into())),
                true,
            ),
            (json!("abort"), Some(FinishReason::Other("abort".into())), true),
            (json!("null"), None, false),
            (json!(" "), None, false),
            (json!(null), None, false),
            (json!(false), None, false),
            (json!(0), None, false),
            (json!({}), None, false),
            (json!([]), None, false),
        ] {
            let word = FinishReason::word_in(&reason);
            assert_eq!(word.as_deref().map(FinishReason::from_word), end, "{reason}");
            assert_eq!(word.is_some_and(|word| FinishReason::is_failure(&word)), is_failure, "{reason}");
        }
    }

    #[test]
    fn texts_of_one_voice_are_joined_up_to_a_length() {
        let mut events = EventQueue::new();
        let long = "x".repeat(JOINED);
        for (kind, text) in [
            (TextKind::Thinking, "a"),
            (TextKind::Thinking, "b"),
            (TextKind::Text, ""),
            (TextKind::Text, "c"),
            (TextKind::Text, &long),
            (TextKind::Text, "d"),
            (TextKind::Thinking, "e"),
        ] {
            kind.push_event(text, &mut events);
        }
        let text = |text: &str| ChatEvent::Text(text.into());
        let thinking = |text: &str| ChatEvent::Thinking(text.into());
        assert_eq!(events, [thinking("ab"), text(&format!("c{long}")), text("d"), thinking("e")]);
    }
}
