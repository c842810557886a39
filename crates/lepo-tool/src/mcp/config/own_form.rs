//! Converts an entry in the form of another client to lepo's.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Moves the keys of a `transport` object into the entry, and converts OpenCode's forms: a `command` list becomes
/// program and arguments, and `environment` becomes `env`. A key that exists in both forms stays unchanged.
pub(super) fn own_form(entry: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    let mut own = Cow::Borrowed(entry);
    if let Some(Value::Object(inner)) = entry.get("transport") {
        let own = own.to_mut();
        own.remove("transport");
        for (key, value) in inner {
            own.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    if let Some((program, arguments)) = parted(&own) {
        own.to_mut().insert("command".into(), program);
        own.to_mut().insert("args".into(), Value::Array(arguments));
    }
    if own.get("env").is_none_or(Value::is_null) && own.get("environment").is_some_and(Value::is_object) {
        let variables = own.to_mut().remove("environment").unwrap_or_default();
        own.to_mut().insert("env".into(), variables);
    }
    own
}

/// Returns the program of a `command` list, and its arguments followed by `args`.
fn parted(entry: &Map<String, Value>) -> Option<(Value, Vec<Value>)> {
    let (program, arguments) = entry.get("command")?.as_array()?.split_first()?;
    let beside = match entry.get("args") {
        None | Some(Value::Null) => [].as_slice(),
        Some(args) => args.as_array()?,
    };
    Some((program.clone(), [arguments, beside].concat()))
}
