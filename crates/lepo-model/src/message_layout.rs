//! Rearranges a conversation for models that do not accept it message by message.

use std::borrow::Cow;

use serde_json::Value;

use super::call_layout::with_strict_calls;
use super::media::MediaFile;
use super::message::{ChatMessage, ToolCall};
use super::quirks::{FILES, NO_SYSTEM, Quirk, SYSTEM_FIRST};
use super::text::SharedText;
use lepo_base::role::Role;

/// Returns a conversation in the form that a server accepts. `has` is only asked about a quirk that would change it, since
/// no other one explains a refusal.
pub(super) fn adapted(
    messages: &[ChatMessage],
    mut has: impl FnMut(&'static Quirk) -> bool,
) -> Cow<'_, [ChatMessage]> {
    let mut messages = Cow::Borrowed(messages);
    if !is_system_first(&messages) && has(&SYSTEM_FIRST) {
        messages = system_first(&messages).into();
    }
    let leads = messages.first().is_some_and(|message| message.role == Role::System);
    if leads && is_system_first(&messages) && has(&NO_SYSTEM) {
        messages = without_system(&messages).into();
    }
    if messages.iter().any(|message| !message.files.is_empty()) && has(&FILES) {
        let bare = |message: &ChatMessage| ChatMessage { files: Vec::new(), ..message.clone() };
        messages = messages.iter().map(bare).collect();
    }
    with_strict_calls(messages, &mut has)
}

/// Whether a conversation is already in the form of [`system_first`].
fn is_system_first(messages: &[ChatMessage]) -> bool {
    let leading = messages.iter().take_while(|message| message.role == Role::System).count();
    let late = messages.iter().skip(leading).any(|message| message.role == Role::System);
    !late
        && !messages
            .array_windows()
            .any(|[a, b]| a.role == b.role && a.call_id.is_none() && b.call_id.is_none())
}

/// Rearranges for models that accept a system message only as the first one, and no two consecutive messages of one
/// role: later system messages become the user's, under a `[system]` line, and neighbours are merged.
///
/// Results of native calls stay separate, because each answers its own call.
fn system_first(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    merged(messages, true)
}

/// Rearranges for models that accept no system message at all: the first one becomes the user's, too.
fn without_system(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    merged(messages, false)
}

pub(super) fn has_result_files(messages: &[ChatMessage]) -> bool {
    messages.iter().any(|message| message.role == Role::Tool && !message.files.is_empty())
}

/// Rearranges for APIs that accept only text in a tool's result: the files of consecutive results move to a user's
/// message after the last of them.
pub(super) fn move_result_files(messages: &[ChatMessage]) -> Cow<'_, [ChatMessage]> {
    if !has_result_files(messages) {
        return messages.into();
    }
    let (mut moved, mut files) = (Vec::with_capacity(messages.len() + 1), Vec::new());
    for message in messages {
        if message.role != Role::Tool {
            moved.extend(files_message(&mut files));
        }
        let mut message = message.clone();
        if message.role == Role::Tool {
            files.append(&mut message.files);
        }
        moved.push(message);
    }
    moved.extend(files_message(&mut files));
    moved.into()
}

/// Returns the user's message with these files, if there are any.
fn files_message(files: &mut Vec<MediaFile>) -> Option<ChatMessage> {
    let files = std::mem::take(files);
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let text = format!("[files in the results above: {}]", names.join(", "));
    (!files.is_empty()).then(|| ChatMessage { files, ..ChatMessage::new(Role::User, text) })
}

/// Merges consecutive messages of one role; system messages become the user's, except the leading ones if `leads`.
fn merged(messages: &[ChatMessage], leads: bool) -> Vec<ChatMessage> {
    let mut merged: Vec<(ChatMessage, Vec<SharedText>)> = Vec::with_capacity(messages.len());
    for message in messages {
        let mut message = message.clone();
        let leading = leads && merged.iter().all(|(earlier, _)| earlier.role == Role::System);
        if message.role == Role::System && !leading {
            message.role = Role::User;
            message.text = format!("[system]\n{}", message.text).into();
        }
        let text = Some(message.text.clone()).filter(|text| !text.is_empty());
        match merged.last_mut() {
            Some((last, texts))
                if last.role == message.role && message.call_id.is_none() && last.call_id.is_none() =>
            {
                texts.extend(text);
                last.calls.append(&mut message.calls);
                last.files.append(&mut message.files);
            }
            _ => merged.push((message, text.into_iter().collect())),
        }
    }
    let joined = |(mut message, texts): (ChatMessage, Vec<SharedText>)| {
        if texts.len() > 1 {
            message.text = texts.iter().map(|text| &**text).collect::<Vec<_>>().join("\n\n").into();
        } else if let Some(text) = texts.into_iter().next() {
            message.text = text;
        }
        message
    };
    merged.into_iter().map(joined).collect()
}

/// Returns a conversation as one text, for a program: only the question if it is the only message, else each
/// message under a line `[system]`, `[user]`, `[assistant]` or `[tool]`, separated by empty lines.
///
/// The caller selects the messages (not the root, not the `general` inst).
pub fn prompt_text(messages: &[ChatMessage]) -> String {
    if let [ChatMessage { role: Role::User, text, .. }] = messages {
        return text.to_string();
    }
    let parts: Vec<String> = messages.iter().map(|m| format!("[{}]\n{}", m.role.as_str(), m.text)).collect();
    parts.join("\n\n")
}

/// Returns the arguments of a call as text.
pub(super) fn arguments_text(call: &ToolCall) -> String {
    match &call.arguments {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses messages: `s:text u:text …`.
    fn conversation(short: &str) -> Vec<ChatMessage> {
        short
            .split(' ')
            .map(|word| {
                let (kind, text) = word.split_once(':').unwrap();
                let role = match kind {
                    "s" => Role::System,
                    "u" => Role::User,
                    "a" => Role::Assistant,
                    _ => Role::Tool,
                };
                ChatMessage::new(role, text)
            })
            .collect()
    }

    fn short(messages: &[ChatMessage]) -> String {
        let words: Vec<String> = messages
            .iter()
            .map(|m| format!("{}:{}", m.role.as_str().split_at(1).0, m.text.replace('\n', "/")))
            .collect();
        words.join(" ")
    }

    #[test]
    fn system_messages_come_first_and_neighbours_merge() {
        for (given, expected) in [
            ("s:root u:hi", "s:root u:hi"),
            ("s:root u:hi s:general", "s:root u:hi//[system]/general"),
            ("s:a s:b u:hi", "s:a//b u:hi"),
            ("u:a u:b a:c a:d", "u:a//b a:c//d"),
            ("u:a s:r u:b", "u:a//[system]/r//b"),
            ("u:a a:b s:r", "u:a a:b u:[system]/r"),
        ] {
            assert_eq!(short(&system_first(&conversation(given))), expected, "{given}");
            assert_eq!(is_system_first(&conversation(given)), given == expected, "{given}");
            assert!(is_system_first(&conversation(expected)), "{expected}");
        }
    }

    #[test]
    fn a_model_without_system_messages_reads_them_in_the_question() {
        for (given, expected) in [
            ("s:first u:hi", "u:[system]/first//hi"),
            ("s:first u:a a:b u:c s:general", "u:[system]/first//a a:b u:c//[system]/general"),
            ("u:a a:b", "u:a a:b"),
        ] {
            assert_eq!(short(&without_system(&conversation(given))), expected, "{given}");
        }
    }

    #[test]
    fn results_of_native_calls_stay_apart() {
        let call = |id: &str| ToolCall { id: id.into(), name: "f".into(), arguments: serde_json::json!({}) };
        let result = |id: &str| ChatMessage { call_id: Some(id.into()), ..ChatMessage::new(Role::Tool, "r") };
        let asked = |id: &str| ChatMessage { calls: vec![call(id)], ..ChatMessage::new(Role::Assistant, "") };
        let merged = system_first(&[asked("1"), asked("2"), result("1"), result("2")]);
        assert_eq!(merged.len(), 3);
        assert_eq!(merged[0].calls.len(), 2);
        assert!(is_system_first(&merged));
    }

    #[test]
    fn a_program_gets_the_question_or_the_path() {
        for (given, expected) in [
            ("u:hi", "hi"),
            ("s:only", "[system]\nonly"),
            ("u:a a:b u:c", "[user]\na\n\n[assistant]\nb\n\n[user]\nc"),
            ("s:x u:a t:r", "[system]\nx\n\n[user]\na\n\n[tool]\nr"),
        ] {
            assert_eq!(prompt_text(&conversation(given)), expected);
        }
    }
}
