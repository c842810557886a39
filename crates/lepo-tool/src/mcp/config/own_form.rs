//! Converts an entry in the form of another client to lepo's.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Keys of other clients for a key of lepo's.
const SAME: &[(&str, &str)] = &[("environment", "env"), ("baseUrl", "url"), ("http_headers", "headers")];

/// Keys of other clients for objects with keys of the entry.
const NESTED: &[&str] = &["transport", "requestInit", "requestOptions"];

/// Moves the keys of a `transport` object into the entry, and converts the forms of other clients: a `command` list
/// (OpenCode) or object (Zed) becomes program and arguments, other names of keys become lepo's, and an address or a
/// program that is blank next to the other is removed. A key that exists in both forms stays unchanged.
pub(super) fn own_form(entry: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    let mut own = Cow::Borrowed(entry);
    for nested in NESTED {
        if let Some(Value::Object(inner)) = entry.get(*nested) {
            let own = own.to_mut();
            own.remove(*nested);
            for (key, value) in inner {
                own.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    if let Some(Value::Object(program)) = entry.get("command")
        && let Some(path) = program.get("path").cloned()
    {
        let own = own.to_mut();
        own.remove("command");
        own.insert("command".into(), path);
        for key in ["args", "env"] {
            if let Some(value) = program.get(key).filter(|_| !own.contains_key(key)) {
                own.insert(key.into(), value.clone());
            }
        }
    }
    if let Some((program, arguments)) = split_command_list(&own) {
        own.to_mut().insert("command".into(), program);
        own.to_mut().insert("args".into(), Value::Array(arguments));
    }
    for (theirs, ours) in SAME {
        if own.get(*ours).is_none_or(Value::is_null) && own.get(*theirs).is_some_and(|value| !value.is_null())
        {
            let value = own.to_mut().remove(*theirs).unwrap_or_default();
            own.to_mut().insert((*ours).into(), value);
        }
    }
    let is_blank =
        |key: &str| own.get(key).and_then(Value::as_str).is_some_and(|text| text.trim().is_empty());
    let (command, url) =
        (own.get("command").is_some_and(|it| !it.is_null()), own.get("url").is_some_and(|it| !it.is_null()));
    match (is_blank("command"), is_blank("url")) {
        (true, false) if url => drop(own.to_mut().remove("command")),
        (false, true) if command => drop(own.to_mut().remove("url")),
        _ => {}
    }
    if own.get("isActive") == Some(&Value::Bool(false)) {
        own.to_mut().insert("disabled".into(), Value::Bool(true));
    }
    own
}

/// Returns the program of a `command` list, and its arguments followed by `args`.
fn split_command_list(entry: &Map<String, Value>) -> Option<(Value, Vec<Value>)> {
    let (program, arguments) = entry.get("command")?.as_array()?.split_first()?;
    let beside = match entry.get("args") {
        None | Some(Value::Null) => [].as_slice(),
        Some(args) => args.as_array()?,
    };
    Some((program.clone(), [arguments, beside].concat()))
}
