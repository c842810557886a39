//! Rewrites an answer as the protocol has it, before the library parses it: its id as the number that lepo sent, either a
//! result or an error, and all fields of the result of `initialize`.

use rmcp::model::RequestId;
use serde_json::{Map, Value, json};

/// The revision of a server that names none. Its older form differs in nothing that lepo reads.
const FIRST_REVISION: &str = "2024-11-05";
const DRAFT_REVISION: &str = "2024-10-07";

/// Rewrites an answer; a request or a notification stays unchanged. `initialize` is the id of that request, if it was
/// sent: results of other requests may have fields of equal names.
pub fn normalise(answer: &mut Value, initialize: Option<&RequestId>) {
    let Some(fields) = answer.as_object_mut().filter(|fields| !fields.contains_key("method")) else { return };
    if !fields.contains_key("id") || !(fields.contains_key("result") || fields.contains_key("error")) {
        return;
    }
    fields.entry("jsonrpc").or_insert_with(|| "2.0".into());
    let number = match fields.get("id") {
        Some(Value::String(id)) => id.parse::<u32>().ok(),
        // A conversion of another number would be the id of another request: -1.0 becomes 0.
        Some(Value::Number(id)) if id.is_f64() => {
            let is_id = |id: &f64| id.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(id);
            id.as_f64().filter(is_id).map(|id| id as u32)
        }
        _ => None,
    };
    if let Some(number) = number {
        fields.insert("id".into(), number.into());
    }
    let is_null = |key: &str| fields.get(key).is_some_and(Value::is_null);
    match (is_null("result"), is_null("error")) {
        (_, true) => drop(fields.shift_remove("error")),
        (true, false) if fields.contains_key("error") => drop(fields.shift_remove("result")),
        _ => {}
    }
    let is_initialized = initialize.is_some_and(|id| fields.get("id") == Some(&json!(id)));
    if let Some(Value::Object(result)) = fields.get_mut("result").filter(|_| is_initialized)
        && ["protocolVersion", "serverInfo"].iter().any(|key| result.contains_key(*key))
    {
        complete_initialize_result(result);
    }
}

/// Adds the fields that the result of `initialize` lacks, and converts fields of another type.
fn complete_initialize_result(result: &mut Map<String, Value>) {
    match result.get("protocolVersion").and_then(Value::as_str) {
        None | Some(DRAFT_REVISION) => drop(result.insert("protocolVersion".into(), FIRST_REVISION.into())),
        Some(_) => {}
    }
    if !result.get("serverInfo").is_some_and(Value::is_object) {
        result.insert("serverInfo".into(), json!({}));
    }
    if let Some(Value::Object(info)) = result.get_mut("serverInfo") {
        for key in ["name", "version"] {
            let text = match info.get(key) {
                Some(Value::String(_)) => continue,
                Some(Value::Number(number)) => number.to_string(),
                _ => String::new(),
            };
            info.insert(key.into(), text.into());
        }
    }
    let given = match result.remove("capabilities") {
        Some(Value::Object(given)) => given,
        _ => Map::new(),
    };
    let has = |(name, value)| match value {
        Value::Bool(true) => Some((name, json!({}))),
        Value::Bool(false) | Value::Null => None,
        value => Some((name, value)),
    };
    let capabilities: Map<String, Value> = given.into_iter().filter_map(has).collect();
    result.insert("capabilities".into(), Value::Object(capabilities));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an answer after the rewriting, where request 1 was `initialize`.
    fn normalised(text: &str) -> String {
        let mut answer: Value = serde_json::from_str(text).unwrap();
        normalise(&mut answer, Some(&RequestId::Number(1)));
        answer.to_string()
    }

    #[test]
    fn an_answer_gets_the_form_of_the_protocol() {
        for (report, answer, expected) in [
            (
                "an id as a text",
                r#"{"jsonrpc":"2.0","id":"7","result":{}}"#,
                r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            ),
            (
                "an id as a float",
                r#"{"jsonrpc":"2.0","id":7.0,"result":{}}"#,
                r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            ),
            (
                "a float below all ids",
                r#"{"jsonrpc":"2.0","id":-1.0,"result":{}}"#,
                r#"{"jsonrpc":"2.0","id":-1.0,"result":{}}"#,
            ),
            (
                "a float above all ids",
                r#"{"jsonrpc":"2.0","id":4294967296.0,"result":{}}"#,
                r#"{"jsonrpc":"2.0","id":4294967296.0,"result":{}}"#,
            ),
            (
                "another id",
                r#"{"jsonrpc":"2.0","id":"a","result":{}}"#,
                r#"{"jsonrpc":"2.0","id":"a","result":{}}"#,
            ),
            (
                "an id of its own",
                r#"{"jsonrpc":"2.0","id":"7","method":"ping"}"#,
                r#"{"jsonrpc":"2.0","id":"7","method":"ping"}"#,
            ),
            (
                "https://github.com/Textalk/jquery.jsonrpcclient.js/pull/24",
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            ),
            (
                "a result that is null with an error",
                r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
            ),
            (
                "https://github.com/Quantum3-Labs/ARBuilder/pull/2",
                r#"{"id":1,"result":{"tools":[]}}"#,
                r#"{"id":1,"result":{"tools":[]},"jsonrpc":"2.0"}"#,
            ),
            ("a log entry", r#"{"id":1,"level":"info"}"#, r#"{"id":1,"level":"info"}"#),
            ("no object", "[1]", "[1]"),
        ] {
            assert_eq!(normalised(answer), expected, "{report}");
        }
    }

    #[test]
    fn the_result_of_initialize_gets_all_fields() {
        let whole = |version: &str, info: &str, capabilities: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{version}","serverInfo":{info},"capabilities":{capabilities}}}}}"#
            )
        };
        let same = whole("2025-06-18", r#"{"name":"s","version":"1"}"#, r#"{"tools":{"listChanged":true}}"#);
        for (report, result, expected) in [
            (
                "a whole one",
                r#""protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":{"listChanged":true}}"#,
                same.clone(),
            ),
            (
                "https://github.com/ian-cowley/MCPSqlServer/pull/3",
                r#""protocolVersion":"2025-06-18""#,
                whole("2025-06-18", r#"{"name":"","version":""}"#, "{}"),
            ),
            (
                "a version as a number",
                r#""protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":1.5},"capabilities":null"#,
                whole("2025-06-18", r#"{"name":"s","version":"1.5"}"#, "{}"),
            ),
            (
                "no revision",
                r#""protocolVersion":null,"serverInfo":{"name":"s","version":"1"},"capabilities":{}"#,
                whole("2024-11-05", r#"{"name":"s","version":"1"}"#, "{}"),
            ),
            (
                "the revision before the first",
                r#""protocolVersion":"2024-10-07","serverInfo":{"name":"s","version":"1"},"capabilities":{}"#,
                whole("2024-11-05", r#"{"name":"s","version":"1"}"#, "{}"),
            ),
            (
                "capabilities that are true or false",
                r#""protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":true,"prompts":false}"#,
                whole("2025-06-18", r#"{"name":"s","version":"1"}"#, r#"{"tools":{}}"#),
            ),
        ] {
            let found = normalised(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{result}}}}}"#));
            let [found, expected] =
                [found, expected].map(|text| serde_json::from_str::<Value>(&text).unwrap());
            assert_eq!(found, expected, "{report}");
        }
        for another in [
            r#"{"jsonrpc":"2.0","id":0,"result":{"supportedVersions":["2026-07-28"],"serverInfo":{}}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":2,"serverInfo":{}}}"#,
        ] {
            assert_eq!(normalised(another), another);
        }
    }
}
