//! Rearranges calls and their results for servers that are strict about ids, empty texts, or the message after a
//! result.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::message::ChatMessage;
use super::quirks::{MALFORMED, Quirk};
use super::replay::ProviderMessage;
use lepo_base::hash::hash_of;
use lepo_base::role::Role;

/// Statuses of such refusals: with 500, a chat template or a tokeniser raised the error.
const STATUS: &[u16] = &[400, 422, 500];

/// Ids of calls in another form. Mistral takes nine letters or digits, OpenAI at most 40 characters, Anthropic no dots
/// and colons; nine letters and digits are accepted by all.
pub(super) static CALL_IDS: Quirk = Quirk {
    word: "call_ids",
    status: STATUS,
    named: &[
        &["tool call id", "tool_call_id", "tool_calls", "tool_use", "call_id", "tooluseid", "tool id"],
        &[
            "length of 9",
            "string too long",
            "string_above_max_length",
            "maximum length",
            "match pattern",
            "match the pattern",
            "regular expression pattern",
        ],
    ],
    notice: "does not accept the ids of the calls: retrying with shorter ones",
};

/// Only the assistant speaks after a result (Mistral).
pub(super) static AFTER_RESULTS: Quirk = Quirk {
    word: "after_results",
    status: STATUS,
    named: &[&["role"], &["after role 'tool'", "after role tool", "after role \\\"tool", "after tool"]],
    notice: "accepts only its own message after a result: retrying with one",
};

/// Messages without text are refused (Bedrock).
pub(super) static BLANK_TEXT: Quirk = Quirk {
    word: "blank_text",
    status: MALFORMED,
    named: &[
        &["content"],
        &[
            "non-empty",
            "is blank",
            "is empty",
            "not be empty",
            "cannot be empty",
            "non-whitespace",
            "empty content",
        ],
    ],
    notice: "does not accept messages without text: retrying without them",
};

/// The thinking in a received message is refused when it is sent back (Groq, Cerebras).
pub(super) static OWN_THINKING: Quirk = Quirk {
    word: "own_thinking",
    status: &[400, 422],
    named: &[
        &["reasoning", "thinking"],
        &["messages", "assistant"],
        &["property ", "extra inputs", "unknown field", "unrecognized", "must not"],
        &[
            "unsupported",
            "not support",
            "not permitted",
            "not allowed",
            "unrecognized",
            "unknown field",
            "must not",
        ],
    ],
    notice: "does not accept its own thinking: retrying without it",
};

/// Fields of a received message with its thinking.
const THINKING: &[&str] = &[
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "reasoning_text",
    "reasoning_opaque",
    "thinking",
];

/// The assistant's message between a result and a message that is not its own.
const BETWEEN: &str = "I have the results.";

/// The text of a result without any.
const NO_OUTPUT: &str = "(no output)";

/// Returns messages in the form that a server accepts. `has` is only asked about a quirk that would change them.
pub(super) fn with_strict_calls<'m>(
    mut messages: Cow<'m, [ChatMessage]>,
    has: &mut dyn FnMut(&'static Quirk) -> bool,
) -> Cow<'m, [ChatMessage]> {
    let ids = messages.iter().flat_map(call_ids).filter(|id| !is_short(id));
    let ids: BTreeSet<String> = ids.map(str::to_owned).collect();
    if !ids.is_empty() && has(&CALL_IDS) {
        messages = messages.iter().map(|message| with_short_ids(message, &ids)).collect();
    }
    if messages.iter().any(has_thinking) && has(&OWN_THINKING) {
        messages = messages.iter().map(without_thinking).collect();
    }
    if messages.iter().any(is_blank) && has(&BLANK_TEXT) {
        messages = messages.iter().filter_map(without_blank).collect();
    }
    let is_after = |[a, b]: &[ChatMessage; 2]| is_result(a) && is_not_its_own(b);
    if messages.array_windows().any(is_after) && has(&AFTER_RESULTS) {
        let mut apart = Vec::with_capacity(messages.len() + 1);
        for message in messages.iter() {
            if apart.last().is_some_and(is_result) && is_not_its_own(message) {
                apart.push(ChatMessage::new(Role::Assistant, BETWEEN));
            }
            apart.push(message.clone());
        }
        messages = apart.into();
    }
    messages
}

fn call_ids(message: &ChatMessage) -> impl Iterator<Item = &str> {
    message.calls.iter().map(|call| call.id.as_str()).chain(message.call_id.as_deref())
}

/// Whether an id is accepted everywhere.
fn is_short(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn short_id(id: &str) -> String {
    hash_of(&[id.as_bytes()]).chars().take(9).collect()
}

fn with_short_ids(message: &ChatMessage, ids: &BTreeSet<String>) -> ChatMessage {
    let mut message = message.clone();
    let shorten = |id: &mut String| {
        if ids.contains(id.as_str()) {
            *id = short_id(id);
        }
    };
    message.calls.iter_mut().for_each(|call| shorten(&mut call.id));
    message.call_id.iter_mut().for_each(shorten);
    if let Some(replay) = &message.replay {
        let mut received = replay.json().clone();
        for part in parts(&mut received) {
            for name in ["id", "call_id", "tool_use_id"] {
                if let Some(Value::String(id)) = part.get_mut(name) {
                    shorten(id);
                }
            }
        }
        message.replay = Some(ProviderMessage::new(received));
    }
    message
}

/// Returns the parts of a received message that may be calls: its items, its `tool_calls`, or its `content`.
fn parts(received: &mut Value) -> Vec<&mut Value> {
    match received {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => {
            let lists =
                fields.iter_mut().filter(|(name, _)| matches!(name.as_str(), "tool_calls" | "content"));
            lists.filter_map(|(_, list)| list.as_array_mut()).flatten().collect()
        }
        _ => Vec::new(),
    }
}

fn has_thinking(message: &ChatMessage) -> bool {
    let received = message.replay.as_ref().map(ProviderMessage::json);
    received.is_some_and(|received| THINKING.iter().any(|name| received.get(*name).is_some()))
}

fn without_thinking(message: &ChatMessage) -> ChatMessage {
    let mut message = message.clone();
    if let Some(replay) = &message.replay {
        let mut received = replay.json().clone();
        if let Value::Object(fields) = &mut received {
            fields.retain(|name, _| !THINKING.contains(&name.as_str()));
        }
        message.replay = Some(ProviderMessage::new(received));
    }
    message
}

/// Whether a message has neither text nor a file, with calls or without.
pub(super) fn is_blank(message: &ChatMessage) -> bool {
    let received = message.replay.as_ref().map(|replay| &replay.json()["content"]);
    let is_received_blank = |content: &Value| content.as_str().is_some_and(|text| text.trim().is_empty());
    match received {
        Some(content) => is_received_blank(content),
        None => message.text.trim().is_empty() && message.files.is_empty(),
    }
}

/// Returns a message without blank text: null in a received one, a sentence in a result. The body of the request omits
/// the text of calls; any other message without text is dropped.
fn without_blank(message: &ChatMessage) -> Option<ChatMessage> {
    let mut message = message.clone();
    match &message.replay {
        _ if !is_blank(&message) => {}
        Some(_) if message.calls.is_empty() => return None,
        Some(replay) => {
            let mut received = replay.json().clone();
            received["content"] = Value::Null;
            message.replay = Some(ProviderMessage::new(received));
        }
        None if is_result(&message) => message.text = NO_OUTPUT.into(),
        None if message.calls.is_empty() => return None,
        None => {}
    }
    Some(message)
}

fn is_result(message: &ChatMessage) -> bool {
    message.role == Role::Tool && message.call_id.is_some()
}

fn is_not_its_own(message: &ChatMessage) -> bool {
    matches!(message.role, Role::User | Role::System)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolCall;
    use serde_json::json;

    fn called(id: &str, text: &str) -> ChatMessage {
        let call = ToolCall { id: id.into(), name: "f".into(), arguments: json!({}) };
        ChatMessage { calls: vec![call], ..ChatMessage::new(Role::Assistant, text) }
    }

    fn result(id: &str, text: &str) -> ChatMessage {
        ChatMessage { call_id: Some(id.into()), ..ChatMessage::new(Role::Tool, text) }
    }

    fn with(quirk: &Quirk, messages: &[ChatMessage]) -> Vec<ChatMessage> {
        let mut has = |asked: &'static Quirk| asked.word == quirk.word;
        with_strict_calls(messages.into(), &mut has).into_owned()
    }

    #[test]
    fn ids_of_calls_and_results_are_shortened_together() {
        let received = json!({"role": "assistant", "tool_calls": [{"id": "call_1", "function": {}}]});
        let replay = Some(ProviderMessage::new(received));
        let blocks =
            json!({"content": [{"type": "tool_use", "id": "call_1"}, {"type": "text", "id": "other"}]});
        let messages = [
            ChatMessage { replay, ..called("call_1", "") },
            result("call_1", "r"),
            ChatMessage { replay: Some(ProviderMessage::new(blocks)), ..called("call_1", "") },
            called("abcDEF789", ""),
        ];
        let short = with(&CALL_IDS, &messages);
        let id = short[0].calls[0].id.clone();
        assert!(is_short(&id), "{id}");
        assert_eq!(short[0].replay.as_ref().unwrap().json()["tool_calls"][0]["id"], id);
        assert_eq!(short[1].call_id.as_ref(), Some(&id));
        let blocks = short[2].replay.as_ref().unwrap().json();
        assert_eq!(
            (&blocks["content"][0]["id"], &blocks["content"][1]["id"]),
            (&id.clone().into(), &json!("other"))
        );
        assert_eq!(short[3].calls[0].id, "abcDEF789");
        // Where all are short, a refusal cannot be about them.
        let mut asked = Vec::new();
        with_strict_calls(short.as_slice().into(), &mut |quirk| {
            asked.push(quirk.word);
            false
        });
        assert!(!asked.contains(&CALL_IDS.word), "{asked:?}");
    }

    #[test]
    fn thinking_that_is_refused_is_not_sent_back() {
        let received = json!({"role": "assistant", "content": "I try.", "reasoning": "hm", "tool_calls": []});
        let replay = Some(ProviderMessage::new(received));
        let messages = [ChatMessage { replay, ..called("a", "") }, result("a", "r")];
        let sent = with(&OWN_THINKING, &messages);
        let expected = json!({"role": "assistant", "content": "I try.", "tool_calls": []});
        assert_eq!(sent[0].replay.as_ref().unwrap().json(), &expected);
        assert_eq!(with(&CALL_IDS, &messages)[0].replay.as_ref().unwrap().json()["reasoning"], "hm");
    }

    #[test]
    fn a_message_between_a_result_and_another_voice_is_the_assistants() {
        let user = || ChatMessage::new(Role::User, "more");
        let roles =
            |messages: &[ChatMessage]| messages.iter().map(|message| message.role).collect::<Vec<_>>();
        let messages =
            [called("a", ""), result("a", "r"), result("b", "s"), user(), called("c", ""), result("c", "")];
        let apart = with(&AFTER_RESULTS, &messages);
        let (assistant, tool) = (Role::Assistant, Role::Tool);
        assert_eq!(roles(&apart), [assistant, tool, tool, assistant, Role::User, assistant, tool]);
        assert_eq!(apart[3].text.to_string(), BETWEEN);
    }

    #[test]
    fn a_blank_text_is_left_out_or_said_in_words() {
        let replay = Some(ProviderMessage::new(json!({"content": "", "tool_calls": []})));
        let messages = [
            ChatMessage::new(Role::User, "hi"),
            ChatMessage::new(Role::Assistant, " "),
            ChatMessage { replay, ..called("a", "") },
            result("a", ""),
            called("b", ""),
        ];
        let said = with(&BLANK_TEXT, &messages);
        assert_eq!(said.len(), 4);
        assert!(said[1].replay.as_ref().unwrap().json()["content"].is_null());
        assert_eq!(said[2].text.to_string(), NO_OUTPUT);
        assert!(said[3].text.is_empty() && said[3].calls.len() == 1);
    }
}
