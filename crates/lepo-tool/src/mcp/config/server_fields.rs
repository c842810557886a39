//! The keys of a server in `mcp.json` that lepo reads, each with its type.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::mistake::{EntryError, mistake};

/// An entry, in lepo's own form.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ServerFields {
    pub description: Option<String>,
    pub enabled: Option<bool>,
    pub disabled: Option<bool>,
    pub command: Option<NonBlankText>,
    pub args: Option<Vec<ScalarText>>,
    pub env: Option<Map<String, Value>>,
    pub cwd: Option<NonBlankText>,
    url: Option<NonBlankText>,
    http_url: Option<NonBlankText>,
    server_url: Option<NonBlankText>,
    pub transport: Option<NonBlankText>,
    #[serde(rename = "type")]
    pub kind: Option<NonBlankText>,
    pub headers: Option<Map<String, Value>>,
    pub timeout: Option<PositiveNumber>,
    #[serde(rename = "startup_timeout_sec")]
    pub startup_timeout_sec: Option<PositiveNumber>,
    pub include_tools: Option<Vec<ScalarText>>,
    pub exclude_tools: Option<Vec<ScalarText>>,
    pub disabled_tools: Option<Vec<ScalarText>>,
    #[serde(deserialize_with = "tool_names")]
    pub tools: Option<Vec<ScalarText>>,
    #[serde(rename = "client_id")]
    pub client_id: Option<NonBlankText>,
    #[serde(rename = "client_secret")]
    pub client_secret: Option<NonBlankText>,
    #[serde(rename = "client_metadata_url")]
    pub client_metadata_url: Option<NonBlankText>,
    /// Keys that lepo does not read. (`flatten` would refuse integers of more than 64 bits in them.)
    #[serde(skip)]
    pub others: Map<String, Value>,
}

/// A text that is not blank.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct NonBlankText(pub String);

/// A string without NUL, or a number or boolean as text.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct ScalarText(pub String);

/// A number above zero.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct PositiveNumber(pub f64);

/// Parses the names of tools: no names if it is another form than a list.
fn tool_names<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<ScalarText>>, D::Error> {
    match Value::deserialize(from)? {
        list @ Value::Array(_) => serde_json::from_value(list).map(Some).map_err(D::Error::custom),
        _ => Ok(None),
    }
}

impl TryFrom<String> for NonBlankText {
    type Error = &'static str;

    fn try_from(text: String) -> Result<NonBlankText, &'static str> {
        if text.trim().is_empty() { Err("it is empty") } else { Ok(NonBlankText(text)) }
    }
}

impl TryFrom<Value> for ScalarText {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<ScalarText, &'static str> {
        match value {
            Value::String(text) if !text.contains('\0') => Ok(ScalarText(text)),
            Value::Number(_) | Value::Bool(_) => Ok(ScalarText(value.to_string())),
            _ => Err("it is not a string"),
        }
    }
}

impl TryFrom<f64> for PositiveNumber {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<PositiveNumber, &'static str> {
        if number > 0.0 && number.is_finite() { Ok(PositiveNumber(number)) } else { Err("it is not above 0") }
    }
}

impl ServerFields {
    /// Parses an entry. An error names the first wrong key and never its value, which may be a secret.
    pub fn read(entry: &Map<String, Value>) -> Result<ServerFields, EntryError> {
        let mut entry = entry.clone();
        // A program has no use for these, nor a remote server for that.
        let unused: &[&str] = match entry.get("command").is_some_and(|command| !command.is_null()) {
            true => &["headers", "client_id", "client_secret", "client_metadata_url"],
            false => &["cwd"],
        };
        unused.iter().for_each(|key| drop(entry.shift_remove(*key)));
        match serde_json::from_value(Value::Object(entry.clone())) {
            Ok(fields) => {
                let others = entry.into_iter().filter(|(key, _)| !is_known(key)).collect();
                Ok(ServerFields { others, ..fields })
            }
            Err(_) => match entry.iter().find(|(key, value)| !accepts(key, (*value).clone())) {
                Some((key, value)) => {
                    let (what, hint) = fault_of(key, value);
                    mistake(format!("`{key}` {what}"), hint)
                }
                None => mistake("it cannot be read", "write it again"),
            },
        }
    }

    /// Returns the keys with an address, each with the address.
    pub fn addresses(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [("url", &self.url), ("httpUrl", &self.http_url), ("serverUrl", &self.server_url)];
        all.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?.0.as_str())))
    }
}

/// Whether a key may have this value.
fn accepts(key: &str, value: Value) -> bool {
    let entry = Map::from_iter([(key.to_string(), value)]);
    serde_json::from_value::<ServerFields>(Value::Object(entry)).is_ok()
}

/// Whether a key is a field: each has a type that refuses a list with null, and another key has no type.
fn is_known(key: &str) -> bool {
    !accepts(key, Value::Array(vec![Value::Null]))
}

/// Returns the fault of a wrong value, and its remedy.
fn fault_of(key: &str, value: &Value) -> (&'static str, &'static str) {
    match key {
        "enabled" | "disabled" => ("is neither true nor false", "leave the quotes out"),
        "env" | "headers" => ("is not an object", "it is like {\"NAME\": \"value\"}"),
        "timeout" | "startup_timeout_sec" => ("is not a number above 0", "leave it out, or say how long"),
        "args" | "includeTools" | "excludeTools" | "disabledTools" | "tools" => {
            ("is not a list of strings", "it is like [\"-y\", \"a-server\"]")
        }
        _ if value.is_string() => ("is empty", "leave it out, or say what it is"),
        _ => ("is not a string", "put it in quotes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_a_field_or_another_one() {
        let known = [
            "description",
            "enabled",
            "disabled",
            "command",
            "args",
            "env",
            "cwd",
            "url",
            "httpUrl",
            "serverUrl",
            "transport",
            "type",
            "headers",
            "timeout",
            "startup_timeout_sec",
            "includeTools",
            "excludeTools",
            "disabledTools",
            "tools",
            "client_id",
            "client_secret",
            "client_metadata_url",
        ];
        for key in known {
            assert!(is_known(key), "{key}");
        }
        for key in ["others", "kind", "http_url", "clientId", "name", ""] {
            assert!(!is_known(key), "{key}");
        }
    }
}
