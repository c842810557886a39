//! Events of an answer, the same for every provider.

use serde_json::Value;

use super::agents::{AgentCall, AgentQuestion};
use super::message::ToolCall;
use super::notice::Notice;
use super::replay::Replay;
use super::web::{Citation, WebCall};

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Text of the model's thinking.
    Thinking(String),
    /// Text of the answer.
    Text(String),
    /// All text so far was thinking: its end came without its beginning.
    WasThinking,
    /// The answer as received, if it has calls: just before these.
    Replay(Replay),
    /// A call, complete.
    ToolCall(ToolCall),
    /// A search or a fetch that the provider's server made.
    WebCall(WebCall),
    /// The page that the text just before is taken from.
    Citation(Citation),
    /// Tokens of the answer so far, if the provider tells them: the last event counts.
    Usage(Usage),
    /// The session of the agent that answers.
    AgentSession(String),
    /// An agent began to do this, in a line.
    Working(String),
    /// A tool that an agent called by itself and that is not over, as far as it is known; again when more is known.
    AgentCallOpen(AgentCall),
    /// A tool that an agent called by itself, once that is over.
    AgentCall(AgentCall),
    /// An agent asks for permission, and waits for [`Answer::permit`](super::Answer::permit).
    AgentAsks(AgentQuestion),
    /// Something said about the work, for a person.
    Notice(Notice),
    /// The model pauses: it is to be asked again with what it said by now, and goes on. [`Answer`](super::Answer) does
    /// that, and passes none of these on.
    Paused(Replay),
    /// The end mark came. Nothing follows.
    Done(Finish),
}

/// Tokens, as the provider counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request, those from the server's cache included.
    pub input: Option<u64>,
    /// Of these, how many came from the cache.
    pub cached: Option<u64>,
    /// Of these, how many were written to the cache.
    pub cache_write: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Searches and fetches that the provider's server made.
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

/// A number of tokens. Servers write it as a float or as text too; anything else is not known.
pub(super) fn tokens(value: &Value) -> Option<u64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    value.as_u64().or_else(|| number.filter(|n| (0.0..1e15).contains(n)).map(|n| n as u64))
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The answer was complete.
    Stop,
    /// The answer reached the token limit.
    Length,
    /// The conversation and the answer fill the model's window.
    Window,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// Another reason, in the provider's word (`content_filter`).
    Other(String),
}

impl Finish {
    /// The word for the limit that cut the answer off; `None` if there was none.
    pub fn cut(&self) -> Option<&'static str> {
        match self {
            Finish::Length => Some("max_tokens"),
            Finish::Window => Some("window"),
            Finish::Stop | Finish::ToolCalls | Finish::Other(_) => None,
        }
    }

    /// A provider's word, read.
    pub(super) fn from_word(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "stop" | "end_turn" | "eos" | "eos_token" | "end" | "complete" | "completed"
            | "stop_sequence" => Finish::Stop,
            "length" | "max_tokens" | "max_output_tokens" | "max_length" => Finish::Length,
            "model_context_window_exceeded" | "model_length" => Finish::Window,
            "tool_calls" | "tool_call" | "function_call" | "tool_use" => Finish::ToolCalls,
            _ => Finish::Other(word.to_owned()),
        }
    }

    /// The word of a finish reason, in the forms that servers give it; none for one that says nothing yet.
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

    /// True for a word that names a failure in place of an end.
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

/// The queue into which readers put events, in order.
pub(super) type Events = std::collections::VecDeque<Event>;

/// From this length on, a text is not made longer by the one after it.
const JOINED: usize = 4 << 10;

/// The kind of an event's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Thinking,
    Text,
}

impl TextKind {
    /// Adds a text of this kind. Texts that arrived at once, in however many events, become one event.
    pub fn say(self, text: &str, events: &mut Events) {
        match (self, events.back_mut()) {
            _ if text.is_empty() => {}
            (TextKind::Thinking, Some(Event::Thinking(last))) | (TextKind::Text, Some(Event::Text(last)))
                if last.len() < JOINED =>
            {
                last.push_str(text);
            }
            (TextKind::Thinking, _) => events.push_back(Event::Thinking(text.to_owned())),
            (TextKind::Text, _) => events.push_back(Event::Text(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finish_reason_is_an_end_a_failure_or_nothing_yet() {
        use serde_json::json;
        for (reason, end, is_failure) in [
            (json!("stop"), Some(Finish::Stop), false),
            (json!("STOP"), Some(Finish::Stop), false),
            (json!({"type": "length", "length": 7}), Some(Finish::Length), false),
            (json!("MAX_TOKENS"), Some(Finish::Length), false),
            (json!("content_filter"), Some(Finish::Other("content_filter".into())), false),
            (json!("network_error"), Some(Finish::Other("network_error".into())), true),
            (json!("error"), Some(Finish::Other("error".into())), true),
            (json!("MALFORMED_FUNCTION_CALL"), Some(Finish::Other("MALFORMED_FUNCTION_CALL".into())), true),
            (json!("abort"), Some(Finish::Other("abort".into())), true),
            (json!("null"), None, false),
            (json!(" "), None, false),
            (json!(null), None, false),
            (json!(false), None, false),
            (json!(0), None, false),
            (json!({}), None, false),
            (json!([]), None, false),
        ] {
            let word = Finish::word_in(&reason);
            assert_eq!(word.as_deref().map(Finish::from_word), end, "{reason}");
            assert_eq!(word.is_some_and(|word| Finish::is_failure(&word)), is_failure, "{reason}");
        }
    }

    #[test]
    fn texts_of_one_voice_are_joined_up_to_a_length() {
        let mut events = Events::new();
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
            kind.say(text, &mut events);
        }
        let text = |text: &str| Event::Text(text.into());
        let thinking = |text: &str| Event::Thinking(text.into());
        assert_eq!(events, [thinking("ab"), text(&format!("c{long}")), text("d"), thinking("e")]);
    }
}
