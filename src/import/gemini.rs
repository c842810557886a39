//! gemini-cli: a log of events a session, or in older versions one document.
//!
//! A message that is written again replaces the one before; what was rewound stays as a fork.

use std::collections::HashMap;
use std::path::Path;

use super::conversation::{Conversation, What};
use super::json::Value;
use super::parts::Parts;
use super::source::Reading;
use super::{Each, attach, time};
use lepo_base::error::Result;
use lepo_store::bubb::Kind;

/// The beginnings of texts that the program wrote, and not the person.
const INJECTED: &[&str] = &["<session_context>", "<hook_context>", "<system_note>"];

/// Messages in the order they were first written, each with the one before it at that moment.
#[derive(Default)]
struct Messages {
    all: Vec<(Option<usize>, Conversation)>,
    places: HashMap<String, usize>,
    at: Option<usize>,
}

impl Messages {
    fn put(&mut self, message: Value<'_>) {
        let id = message.get("id").words();
        let one = one(message);
        match self.places.get(&id) {
            Some(&place) if !id.is_empty() => {
                self.all[place].1 = one;
                self.at = Some(place).max(self.at);
            }
            _ => {
                self.places.insert(id, self.all.len());
                self.all.push((self.at, one));
                self.at = Some(self.all.len() - 1);
            }
        }
    }

    fn rewind(&mut self, id: &str) {
        if let Some(&place) = self.places.get(id) {
            self.at = self.all[place].0;
        }
    }
}

/// Reads one session, with its subagents.
pub fn read(path: &Path, reading: &mut Reading, each: &mut Each<'_>) -> Result<()> {
    let mut conversation = Conversation { grows: true, ..Conversation::default() };
    let mut messages = Messages::default();
    let lines = path.extension().is_some_and(|end| end == "jsonl");
    let mut values = if lines { reading.lines(path)? } else { reading.values(path)? };
    while let Some(value) = reading.next(&mut values)? {
        event(&mut conversation, &mut messages, value, reading);
    }
    // A message's own nodes follow the last of the message before it.
    let mut tails = Vec::with_capacity(messages.all.len());
    let last = messages.all.len().saturating_sub(1);
    for (place, (before, mut one)) in messages.all.into_iter().enumerate() {
        let shift = conversation.nodes.len();
        for node in &mut one.nodes {
            node.parent = match node.parent {
                Some(parent) => Some(parent + shift),
                None => before.and_then(|before| tails.get(before).copied()),
            };
            node.last = place == last;
        }
        conversation.nodes.append(&mut one.nodes);
        conversation.skip_with(one.skipped);
        conversation.messages += 1;
        tails.push(conversation.nodes.len() - 1);
    }
    each(conversation)
}

fn event(conversation: &mut Conversation, messages: &mut Messages, value: Value<'_>, reading: &mut Reading) {
    if let Some(session) = value.get("sessionId").said() {
        conversation.id = session;
        conversation.start = time::written(value.get("startTime"));
        conversation.title = value.get("summary").said();
    }
    if value.has("messages") {
        messages.at = None;
        value.get("messages").items().for_each(|message| messages.put(message));
    } else if value.has("$set") {
        let set = value.get("$set");
        conversation.title = set.get("summary").said().or(conversation.title.take());
        if set.has("messages") {
            messages.at = None;
            for message in set.get("messages").items() {
                let known = messages.places.get(&message.get("id").words()).copied();
                messages.put(message);
                messages.at = known.or(messages.at);
            }
        }
    } else if let Some(id) = value.get("$rewindTo").said() {
        messages.rewind(&id);
    } else if value.has("content") && value.has("type") {
        messages.put(value);
    } else if !value.has("sessionId") {
        reading.tally.skip("unknown record", 1);
    }
}

/// One message as a conversation of its own.
fn one(message: Value<'_>) -> Conversation {
    let mut one = Conversation::default();
    let at = time::written(message.get("timestamp"));
    let is_answer = message.get("type").is("gemini");
    let kind = if is_answer { Kind::Assistant } else { Kind::User };
    let mut parts = Parts::new(&mut one, None, at, kind);
    for thought in message.get("thoughts").items() {
        parts.at(time::written(thought.get("timestamp")));
        let both = [thought.get("subject").said(), thought.get("description").said()];
        parts.aside(Kind::Assistant, &both.into_iter().flatten().collect::<Vec<_>>().join("\n\n"));
    }
    parts.at(at);
    let content = message.get("content");
    let is_said = is_answer || message.get("type").is("user");
    match content.text() {
        Some(text) => said(&mut parts, is_said, &text),
        None => content.items().for_each(|part| {
            let inline = part.get("inlineData");
            if inline.is_object() {
                let (mime, data) = (inline.get("mimeType").words(), inline.get("data").words());
                parts.file(attach::base64("", &mime, &data));
            }
            let text = part.get("text").text().or_else(|| part.text());
            if text.is_none() && !inline.is_object() {
                parts.unknown();
            }
            said(&mut parts, is_said, &text.unwrap_or_default());
        }),
    }
    for call in message.get("toolCalls").items() {
        let id = call.get("id").words();
        let input = String::from_utf8_lossy(call.get("args").raw()).into_owned();
        parts.then(What::Call { id: id.clone(), name: call.get("name").words(), input });
        parts.at(time::written(call.get("timestamp")));
        parts.then(What::Output { call: id, text: result(call), files: Vec::new() });
    }
    let (first, _) = parts.finish();
    let tokens = message.get("tokens");
    let model = message.get("model").said();
    one.answered_by(first, model.as_deref(), tokens.get("input").count(), tokens.get("output").count());
    one
}

/// The result of a tool: its text where there is one, else its JSON.
fn result(call: Value<'_>) -> String {
    let result = call.get("result");
    let response = |part: Value<'_>| {
        let response = part.at(&["functionResponse", "response"]);
        let text = response.get("output").said().or_else(|| response.get("error").said());
        text.or_else(|| part.get("text").said())
            .or_else(|| response.is_object().then(|| String::from_utf8_lossy(response.raw()).into_owned()))
    };
    let texts: Vec<String> = result.items().filter_map(response).collect();
    result.said().unwrap_or_else(|| texts.join("\n\n"))
}

/// A message, or a note that the program put in.
fn said(parts: &mut Parts<'_>, is_said: bool, text: &str) {
    match !is_said || INJECTED.iter().any(|begin| text.starts_with(begin)) {
        true => parts.aside(Kind::User, text),
        false => parts.text(text),
    }
}
