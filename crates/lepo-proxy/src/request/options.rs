//! Options of a request under lepo's own names, so that one wire may answer for another.

use serde_json::{Map, Value, json};

use super::content::text_of;

/// Fields that do not decide an answer: transport, accounting, caches, safety.
const IGNORED: &[&str] = &[
    "stream",
    "stream_options",
    "user",
    "metadata",
    "client_metadata",
    "store",
    "service_tier",
    "include",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "cache_control",
    "safety_identifier",
    "keep_alive",
    "background",
    "betas",
    "anthropic_version",
];

/// Names of wires, each with lepo's own.
const NAMES: &[(&str, &str)] = &[
    ("max_completion_tokens", "max_tokens"),
    ("max_output_tokens", "max_tokens"),
    ("num_predict", "max_tokens"),
    ("reasoning_effort", "effort"),
    ("stop_sequences", "stop"),
];

/// The options and the schema of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProxyOptions {
    /// By lepo's own names; empty where the request has none.
    pub values: Map<String, Value>,
    /// The schema of the answer.
    pub schema: Option<Value>,
}

impl ProxyOptions {
    /// Reads all fields of a body but those in `read`, which the wire reads itself.
    pub fn from_body(body: &Map<String, Value>, read: &[&str]) -> ProxyOptions {
        let mut options = ProxyOptions::default();
        for (key, value) in body {
            if !read.contains(&key.as_str()) {
                options.add(key, value);
            }
        }
        options
    }

    /// Adds an option by the wire's name, unless its value is null or the default.
    pub fn add(&mut self, key: &str, value: &Value) {
        if value.is_null() || IGNORED.contains(&key) {
            return;
        }
        let name = NAMES.iter().find(|(wire, _)| *wire == key).map_or(key, |(_, own)| own);
        let value = match name {
            "tool_choice" => match tool_choice(value) {
                Some(choice) => choice,
                None => return,
            },
            "parallel_tool_calls" if value == &Value::Bool(true) => return,
            // A single text and a list with one text say the same.
            "stop" if value.is_string() => json!([value]),
            "stop" if value.as_array().is_some_and(Vec::is_empty) => return,
            "temperature" | "top_p" => value.as_f64().map_or_else(|| value.clone(), Value::from),
            _ => plain_number(value),
        };
        self.values.insert(name.to_string(), value);
    }

    /// Reads `response_format`, `text.format` or `output_config.format`: a schema, or JSON of any kind.
    pub fn add_format(&mut self, format: &Value) {
        match text_of(format, "type") {
            "json_schema" => {
                let inner = format.get("json_schema").unwrap_or(format);
                self.schema = inner.get("schema").filter(|schema| !schema.is_null()).cloned();
            }
            "json_object" => {
                self.values.insert("json".into(), true.into());
            }
            "" | "text" => {}
            _ => {
                self.values.insert("format".into(), format.clone());
            }
        }
    }
}

/// Returns `none`, `required` or `{"name": …}`; `None` for the default, `auto`.
fn tool_choice(choice: &Value) -> Option<Value> {
    let word = choice.as_str().unwrap_or_else(|| text_of(choice, "type"));
    let function = choice.get("function").unwrap_or(choice);
    match word {
        "auto" => None,
        "any" | "required" => Some("required".into()),
        "none" => Some("none".into()),
        _ => match text_of(function, "name") {
            "" => Some(choice.clone()),
            name => Some(json!({ "name": name })),
        },
    }
}

/// Writes a whole number as one, however it came: `3.0` is `3`.
fn plain_number(value: &Value) -> Value {
    let Value::Number(number) = value else { return value.clone() };
    let whole = number.as_i64().map(Value::from).or_else(|| number.as_u64().map(Value::from));
    let float = || number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15);
    whole.or_else(|| float().map(|float| Value::from(float as i64))).unwrap_or_else(|| value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_one_name_on_all_wires() {
        for (body, expected) in [
            (json!({"max_tokens": 5, "temperature": 0}), json!({"max_tokens": 5, "temperature": 0.0})),
            (json!({"max_completion_tokens": 5.0}), json!({"max_tokens": 5})),
            (json!({"max_output_tokens": 5, "top_p": null}), json!({"max_tokens": 5})),
            (json!({"num_predict": 5, "seed": 3}), json!({"max_tokens": 5, "seed": 3})),
            (json!({"stop": "x"}), json!({"stop": ["x"]})),
            (json!({"stop_sequences": ["x"]}), json!({"stop": ["x"]})),
            (json!({"stop": []}), json!({})),
            (json!({"reasoning_effort": "low"}), json!({"effort": "low"})),
            (json!({"tool_choice": "auto", "parallel_tool_calls": true}), json!({})),
            (json!({"tool_choice": {"type": "any"}}), json!({"tool_choice": "required"})),
            (json!({"tool_choice": "required"}), json!({"tool_choice": "required"})),
            (json!({"tool_choice": {"type": "tool", "name": "a"}}), json!({"tool_choice": {"name": "a"}})),
            (
                json!({"tool_choice": {"type": "function", "function": {"name": "a"}}}),
                json!({"tool_choice": {"name": "a"}}),
            ),
            (json!({"user": "u", "stream": true, "metadata": {"a": 1}, "service_tier": "x"}), json!({})),
            (json!({"logit_bias": {"1": 2}}), json!({"logit_bias": {"1": 2}})),
            (json!({"read": 1}), json!({})),
        ] {
            let options = ProxyOptions::from_body(body.as_object().unwrap(), &["read"]);
            assert_eq!(Value::Object(options.values), expected, "{body}");
        }
    }

    #[test]
    fn a_schema_is_the_same_on_all_wires() {
        let schema = json!({"type": "object"});
        for (format, expected, json) in [
            (json!({"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}), true, false),
            (json!({"type": "json_schema", "name": "a", "strict": true, "schema": schema}), true, false),
            (json!({"type": "json_schema", "schema": schema}), true, false),
            (json!({"type": "json_object"}), false, true),
            (json!({"type": "text"}), false, false),
        ] {
            let mut options = ProxyOptions::default();
            options.add_format(&format);
            assert_eq!(options.schema, expected.then(|| schema.clone()), "{format}");
            assert_eq!(options.values.contains_key("json"), json, "{format}");
        }
    }
}
