//! A tool call as a model requests it, and the names of the tool.

use serde_json::{Map, Value, json};

use lepo_base::hash::hash_of;

/// A tool call that a model requests.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRequest {
    /// Name of the server.
    pub server: String,
    /// Name of the tool, as the server expects it.
    pub tool: String,
    /// Arguments of the call.
    pub arguments: Map<String, Value>,
}

impl CallRequest {
    /// Parses an object with `server`, `name` and `arguments`; `None` if it is malformed. `arguments` may be missing,
    /// or JSON in a string.
    pub fn from_json(value: &Value) -> Option<CallRequest> {
        let object = value.as_object()?;
        let text =
            |key: &str| Some(object.get(key)?.as_str()?.trim().to_string()).filter(|text| !text.is_empty());
        let arguments = match object.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(Value::String(text)) => serde_json::from_str(text).ok()?,
            Some(_) => return None,
        };
        Some(CallRequest { server: text("server")?, tool: text("name")?, arguments })
    }

    /// Parses a bubb's text, which must be exactly the canonical form.
    pub fn from_canonical(text: &str) -> Option<CallRequest> {
        let request = CallRequest::from_json(&serde_json::from_str(text).ok()?)?;
        (request.canonical() == text).then_some(request)
    }

    /// Returns the canonical form: compact JSON, keys sorted at every depth.
    pub fn canonical(&self) -> String {
        canonical(&self.to_json())
    }

    /// Returns the call as a JSON object.
    pub fn to_json(&self) -> Value {
        json!({ "arguments": self.arguments, "name": self.tool, "server": self.server })
    }

    /// Returns the name of the tool for APIs in which a tool has a single name.
    pub fn native_name(&self) -> String {
        native_name(&self.server, &self.tool)
    }
}

/// Formats compact JSON with keys sorted at every depth.
pub fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(object) => {
                let mut entries: Vec<(&String, &Value)> = object.iter().collect();
                entries.sort_by(|a, b| a.0.cmp(b.0));
                Value::Object(entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

/// Longest name that APIs accept.
const LONGEST: usize = 64;

/// Replaces each character that APIs do not accept in a name.
fn letters(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect()
}

/// Returns the prefix of the names of a server's tools, unless they are too long.
pub(super) fn native_prefix(server: &str) -> String {
    format!("{}__", letters(server))
}

/// Returns `server__tool` in characters that APIs accept. A name that had to be changed or cut gets a hash, so that no
/// two tools share a name.
pub fn native_name(server: &str, tool: &str) -> String {
    let plain = format!("{}{}", native_prefix(server), letters(tool));
    let ambiguous = server.contains("__") || server.ends_with('_') || tool.starts_with('_');
    if plain.len() <= LONGEST && plain == format!("{server}__{tool}") && !ambiguous {
        return plain;
    }
    let hash: String = hash_of(&[server.as_bytes(), tool.as_bytes()]).chars().take(8).collect();
    let kept: String = plain.chars().take(LONGEST - hash.len() - 1).collect();
    format!("{kept}_{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_any_length_keep_their_digits() {
        for number in [
            "123456789012345678901234567890",
            "-123456789012345678901234567890",
            "18446744073709551616",
            "18446744073709551615",
            "-9223372036854775809",
            "9007199254740993",
            "0.1",
            "100.0",
        ] {
            let text = format!(r#"{{"arguments":{{"n":[{number}]}},"name":"t","server":"s"}}"#);
            let request = CallRequest::from_canonical(&text).unwrap();
            assert_eq!(request.canonical(), text);
            let within = json!({"server": "s", "name": "t", "arguments": format!("{{\"n\":[{number}]}}")});
            assert_eq!(CallRequest::from_json(&within), Some(request));
        }
    }

    #[test]
    fn calls_are_read_and_written_in_one_form() {
        for (text, canonical) in [
            (
                r#"{"server":"s","name":"t","arguments":{"b":1,"a":{"y":[{"d":1,"c":2}],"x":"한글"}}}"#,
                Some(r#"{"arguments":{"a":{"x":"한글","y":[{"c":2,"d":1}]},"b":1},"name":"t","server":"s"}"#),
            ),
            (r#"{"server":" s ","name":"t"}"#, Some(r#"{"arguments":{},"name":"t","server":"s"}"#)),
            (
                r#"{"server":"s","name":"t","arguments":"{\"a\":1}"}"#,
                Some(r#"{"arguments":{"a":1},"name":"t","server":"s"}"#),
            ),
            // A number that lost its last digit in parsing would make a request that cannot be approved.
            (
                r#"{"server":"s","name":"t","arguments":{"n":111000430648838014150}}"#,
                Some(r#"{"arguments":{"n":111000430648838014150},"name":"t","server":"s"}"#),
            ),
            (r#"{"server":"s","name":"t","arguments":[1]}"#, None),
            (r#"{"server":"","name":"t","arguments":{}}"#, None),
            (r#"{"name":"t","arguments":{}}"#, None),
            (r#"{"server":"s"}"#, None),
            ("3", None),
        ] {
            let request = CallRequest::from_json(&serde_json::from_str(text).unwrap());
            assert_eq!(request.as_ref().map(CallRequest::canonical).as_deref(), canonical, "{text}");
            if let Some(canonical) = canonical {
                assert_eq!(CallRequest::from_canonical(canonical), request);
            }
        }
        for text in
            [r#"{"server":"s","name":"t","arguments":{}}"#, r#"{"arguments":{},"name":"t","server":"s"} "#]
        {
            assert_eq!(CallRequest::from_canonical(text), None, "{text}");
        }
    }

    #[test]
    fn native_names_are_short_and_never_the_same() {
        assert_eq!(native_name("time", "get_current-time"), "time__get_current-time");
        let names = [
            native_name("a", "b__c"),
            native_name("a__b", "c"),
            native_name("a_", "b"),
            native_name("a", "_b"),
            native_name("시간", "now"),
            native_name("날짜", "now"),
            native_name("s", &"x".repeat(80)),
            native_name("s", &"x".repeat(81)),
            native_name("s", "a.b"),
            native_name("s", "a_b"),
            // https://github.com/eclipse-theia/theia/issues/18027, https://github.com/macro-inc/macro/pull/5921,
            // https://github.com/samanhappy/mcphub/issues/1076, https://github.com/obot-platform/obot/issues/4194
            native_name("My server", "my_tool_A"),
            native_name("My_server", "my_tool_A"),
            native_name("Google Sheets", "now"),
            native_name("我的伺服器", "now"),
            native_name("Craigs Test of Shannon's game", "now"),
        ];
        for (i, name) in names.iter().enumerate() {
            assert!(name.len() <= LONGEST, "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{name}");
            assert!(!names.iter().skip(i + 1).any(|other| other == name), "{name}");
        }
    }
}
