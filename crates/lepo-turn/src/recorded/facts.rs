//! The facts of a request in the journal's line of its answer: options, and hashes of schema and tools. Two
//! requests with equal texts are equal if these are.

use serde_json::{Map, Value, json};

use super::tool_hashes::{ToolHashes, canonical, hash_of_json, short};
use crate::schema::AnswerSchema;
use lepo_base::hash::sha256_hex;
use lepo_model::{ModelConfig, ModelOptions};

/// The option that says which tools a model may call, and its value for none of them.
pub(super) const TOOL_CHOICE: &str = "tool_choice";
const NO_CALL: &str = "none";

/// Whether these options of a recorded answer say that no tool could be called.
pub(super) fn forbids_calls(options: Option<&Value>) -> bool {
    options.and_then(|options| options.get(TOOL_CHOICE)).and_then(Value::as_str) == Some(NO_CALL)
}

/// The options, the schema and the tools of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestFacts {
    /// The options; `None` if the request has none.
    pub options: Option<Value>,
    /// Hash of the schema.
    pub schema: Option<String>,
    /// Hashes of the tools, by server.
    pub tools: Option<Value>,
}

impl RequestFacts {
    /// Computes the facts of a request to a model.
    pub fn new(config: &ModelConfig, schema: Option<&AnswerSchema>, tools: &ToolHashes) -> RequestFacts {
        let options = options_json(&config.options, &config.extra);
        RequestFacts { options, schema: schema.map(schema_hash), tools: tools.to_json() }
    }

    /// Notes that the tools were listed, and that none could be called.
    pub fn without_calls(mut self) -> RequestFacts {
        let mut options =
            self.options.take().and_then(|options| options.as_object().cloned()).unwrap_or_default();
        options.insert(TOOL_CHOICE.to_string(), NO_CALL.into());
        RequestFacts { options: Some(Value::Object(options)), ..self }
    }
}

/// Returns the options as the journal has them; `extra` fields of the body are hashed.
pub fn options_json(options: &ModelOptions, extra: &Map<String, Value>) -> Option<Value> {
    let number = |number: &serde_json::Number| number.as_f64().map(Value::from);
    let ModelOptions { temperature, max_tokens, effort, top_p, seed, stop, web } = options;
    let all = [
        ("temperature", temperature.as_ref().and_then(number)),
        ("max_tokens", max_tokens.map(Value::from)),
        ("effort", effort.clone().map(Value::from)),
        ("web", web.then_some(Value::Bool(true))),
        ("top_p", top_p.as_ref().and_then(number)),
        ("seed", seed.map(Value::from)),
        ("stop", (!stop.is_empty()).then(|| json!(stop))),
        ("extra", (!extra.is_empty()).then(|| short(&sha256_hex(canonical(json!(extra)).as_bytes())).into())),
    ];
    let options = all.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    let options: Map<String, Value> = options.collect();
    (!options.is_empty()).then_some(Value::Object(options))
}

/// Computes the hash of a schema.
pub fn schema_hash(schema: &AnswerSchema) -> String {
    hash_of_json(schema.in_request.schema.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_the_same_however_a_number_is_written() {
        let options = |temperature: &str| ModelOptions {
            temperature: Some(serde_json::from_str(temperature).unwrap()),
            ..ModelOptions::default()
        };
        let json = |options: &ModelOptions| options_json(options, &Map::new());
        assert_eq!(json(&options("0")), json(&options("0.0")));
        assert_ne!(json(&options("0")), json(&options("1")));
        assert_eq!(json(&ModelOptions::default()), None);
        let extra: Map<String, Value> = serde_json::from_str(r#"{"key":"hidden"}"#).unwrap();
        let text = options_json(&ModelOptions::default(), &extra).unwrap().to_string();
        assert!(!text.contains("hidden"), "{text}");
    }
}
