//! Answers with calls as a server sent them, stored in `_wire/`: of a turn whose request is pending, and of turns whose
//! calls stay on the path. Rebuilt from the bubbs, an answer would differ from what the server sent.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Masking;
use super::message::{CallGroup, Message};
use super::stored_calls::start_of_turn;
use super::turn_path::TurnPath;
use lepo_base::role::Role;
use lepo_model::{ModelConfig, ProviderMessage, ReplayOrigin, ToolCall};
use lepo_store::bubb::BubbId;
use lepo_store::store::Store;

/// The answers with calls of one turn, with the model that they came from.
#[derive(Serialize, Deserialize)]
struct ReceivedTurn {
    provider: String,
    base_url: String,
    model: String,
    payload: Vec<StoredAnswer>,
}

#[derive(Serialize, Deserialize)]
struct StoredAnswer {
    /// The bubb that it follows.
    under: String,
    calls: Vec<StoredCall>,
    #[serde(rename = "said")]
    provider_message: Option<Value>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    waited: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredCall {
    id: String,
    name: String,
    arguments: Value,
}

/// Stores the answers that this turn's model sent, until the request is decided.
pub fn save_pending_calls(path: &TurnPath, store: &Store, config: &ModelConfig, request: BubbId) {
    // A failure is harmless: the model then receives the answer as text.
    if let Some(received) = received_turn(path, config) {
        let _ = store.write_replay(request, received);
    }
}

/// Returns the answers with calls of this turn in their stored form; `None` without any.
fn received_turn(path: &TurnPath, config: &ModelConfig) -> Option<Map<String, Value>> {
    let ReplayOrigin { provider, base_url, model } = ReplayOrigin::from_config(config)?;
    let stored = |group: &CallGroup| {
        let calls = group.calls.iter().map(|ToolCall { id, name, arguments }| StoredCall {
            id: id.clone(),
            name: name.clone(),
            arguments: arguments.clone(),
        });
        Some(StoredAnswer {
            under: path.id_at(group.index.checked_sub(1)?)?.to_string(),
            calls: calls.collect(),
            provider_message: group.replay.as_ref().map(|replay| replay.json().clone()),
            waited: group.was_pending,
        })
    };
    let payload: Vec<StoredAnswer> = groups_of_turn(path).iter().filter_map(stored).collect();
    let received = ReceivedTurn { provider: provider.to_owned(), base_url, model, payload };
    match serde_json::to_value(&received) {
        Ok(Value::Object(fields)) if !received.payload.is_empty() => Some(fields),
        _ => None,
    }
}

/// Returns the answers with calls of the last turn on the path.
fn groups_of_turn(path: &TurnPath) -> &[CallGroup] {
    let turn = start_of_turn(&path.messages);
    let since = path.call_groups.partition_point(|group| group.index < turn);
    path.call_groups.get(since..).unwrap_or_default()
}

/// Stores the answers with calls of a turn that ended with `end`, if they stay on the path. Not with a secret: the bubbs
/// have it masked, and later turns get the calls as in the bubbs.
pub fn save_calls(path: &TurnPath, store: &Store, masking: &Masking, config: &ModelConfig, end: BubbId) {
    let has_secret = |group: &CallGroup| {
        let replay = group.replay.iter().map(ProviderMessage::json);
        let mut open: Vec<&Value> = group.calls.iter().map(|call| &call.arguments).chain(replay).collect();
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) if masking.masked(text) != *text => return true,
                Value::Array(values) => open.extend(values),
                Value::Object(fields) => open.extend(fields.values()),
                _ => {}
            }
        }
        false
    };
    if !groups_of_turn(path).iter().any(has_secret)
        && let Some(received) = received_turn(path, config)
    {
        let _ = store.write_calls(end, received);
    }
}

/// Restores the answers of earlier turns on the path, if they are from this model.
pub fn restore_earlier_calls(path: &mut TurnPath, store: &Store, config: &ModelConfig) {
    for id in ends_of_calls(path) {
        restore_calls(path, store, config, id);
    }
}

/// Returns the messages of the assistant, whole or stopped, that follow a result: the ends of turns with calls.
fn ends_of_calls(path: &TurnPath) -> Vec<BubbId> {
    if !path.messages.iter().any(|message| message.body.is_call()) {
        return Vec::new();
    }
    let is_end = |before: &Message, end: &Message| {
        before.hidden && before.role != Role::User && end.role == Role::Assistant && !end.body.is_call()
    };
    let pairs = path.messages.iter().zip(path.messages.iter().skip(1));
    pairs.filter(|(before, end)| is_end(before, end)).filter_map(|(_, end)| end.id).collect()
}

/// Restores the answers stored for a request or the end of a turn, if they are from this model.
pub fn restore_calls(path: &mut TurnPath, store: &Store, config: &ModelConfig, request: BubbId) {
    let received = store.replay(request).ok().flatten();
    let received =
        received.and_then(|received| serde_json::from_value::<ReceivedTurn>(Value::Object(received)).ok());
    let (Some(received), Some(origin)) = (received, ReplayOrigin::from_config(config)) else { return };
    let same = origin.provider == received.provider
        && origin.base_url == received.base_url
        && origin.model == received.model;
    if !same {
        return;
    }
    for StoredAnswer { under, calls, provider_message, waited } in received.payload {
        let Some(before) = path.ids().position(|id| id.to_string() == under) else { continue };
        let index = before + 1;
        if path.call_groups.iter().any(|known| known.index == index) {
            continue;
        }
        let calls =
            calls.into_iter().map(|StoredCall { id, name, arguments }| ToolCall { id, name, arguments });
        let (calls, replay) = (calls.collect(), provider_message.map(ProviderMessage::new));
        path.call_groups.push(CallGroup { index, calls, replay, was_pending: waited });
    }
    path.call_groups.sort_by_key(|group| group.index);
}
