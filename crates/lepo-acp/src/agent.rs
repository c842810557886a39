//! The answers of an agent to a client's requests.

use serde_json::{Map, Value, json};

use super::VERSION;

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The answer is complete.
    EndTurn,
    /// The client interrupted the turn.
    Cancelled,
}

/// Builds the answer to `initialize`.
pub fn initialized(name: &str, title: &str, version: &str) -> Value {
    json!({
        "protocolVersion": VERSION,
        "agentInfo": { "name": name, "title": title, "version": version },
        "authMethods": [],
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": { "image": true, "audio": false, "embeddedContext": true },
            "mcpCapabilities": { "http": true, "sse": true },
            "sessionCapabilities": { "list": {}, "resume": {}, "close": {}, "fork": {} },
            "_meta": { "lepo": { "fork": true } },
        },
    })
}

/// Builds the answer to a prompt.
pub fn prompted(stop: StopReason, meta: Value) -> Value {
    let stop = match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::Cancelled => "cancelled",
    };
    json!({ "stopReason": stop, "_meta": meta })
}

/// Builds the list of modes, each with its id, name and description, and the current one.
pub fn modes(current: &str, all: &[(&str, &str, &str)]) -> Value {
    let mode =
        |(id, name, about): &(&str, &str, &str)| json!({ "id": id, "name": name, "description": about });
    json!({ "currentModeId": current, "availableModes": all.iter().map(mode).collect::<Vec<_>>() })
}

/// Builds the options of a session: the choice of a model.
pub fn options(current: &str, models: &[String]) -> Value {
    let option = |name: &String| json!({ "value": name, "name": name });
    let options: Vec<Value> = models.iter().map(option).collect();
    json!([{
        "id": MODEL, "name": "Model", "category": "model", "type": "select", "currentValue": current,
        "options": options,
    }])
}

/// The id of the option for the model.
pub const MODEL: &str = "model";

/// Builds the answer to a request for a session, with its id if it is new.
pub fn session(id: Option<&str>, modes: Value, options: Option<Value>) -> Value {
    let mut session = Map::new();
    session.extend(id.map(|id| ("sessionId".to_string(), id.into())));
    session.insert("modes".into(), modes);
    session.extend(options.map(|options| ("configOptions".to_string(), options)));
    Value::Object(session)
}

/// Builds the answer to a change of an option.
pub fn options_set(options: Value) -> Value {
    json!({ "configOptions": options })
}

/// Builds the answer to a fork from a message.
pub fn forked(id: &str) -> Value {
    json!({ "sessionId": id })
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: String,
    /// Its folder.
    pub cwd: String,
    /// Its title.
    pub title: Option<String>,
    /// The time of its last message, in ISO 8601.
    pub updated: Option<String>,
}

/// Builds a page of the list of sessions; `next` is the cursor of the next page.
pub fn list(sessions: &[SessionInfo], next: Option<String>) -> Value {
    let one = |session: &SessionInfo| {
        let mut one = json!({ "sessionId": session.id, "cwd": session.cwd });
        for (key, value) in [("title", &session.title), ("updatedAt", &session.updated)] {
            if let Some(value) = value {
                one[key] = value.as_str().into();
            }
        }
        one
    };
    let mut list = json!({ "sessions": sessions.iter().map(one).collect::<Vec<_>>() });
    if let Some(next) = next {
        list["nextCursor"] = next.into();
    }
    list
}
