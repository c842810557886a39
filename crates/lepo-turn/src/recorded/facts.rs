//! The facts of a request in the journal's line of its answer: options, and hashes of schema and tools. Two
//! requests with equal texts are equal if these are.

use serde_json::{Map, Value, json};

use crate::schema::AnswerSchema;
use lepo_base::hash::{hash_of, sha256_hex};
use lepo_model::{ModelConfig, ModelOptions};
use lepo_tool::mcp::{Server, native_name};

/// Hexadecimal digits of a hash in the journal.
const DIGITS: usize = 16;

const COMMANDS: &str = "run_command";

/// The options, the schema and the tools of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestFacts {
    /// The options; `None` if the request has none.
    pub options: Option<Value>,
    /// Hash of the schema.
    pub schema: Option<String>,
    /// Hash of the tools.
    pub tools: Option<String>,
}

impl RequestFacts {
    /// Computes the facts of a request to a model.
    pub fn new(config: &ModelConfig, schema: Option<&AnswerSchema>, tools: Option<String>) -> RequestFacts {
        let options = options_json(&config.options, &config.extra);
        RequestFacts { options, schema: schema.map(schema_hash), tools }
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
    let given = all.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    let given: Map<String, Value> = given.collect();
    (!given.is_empty()).then_some(Value::Object(given))
}

/// Computes the hash of a schema.
pub fn schema_hash(schema: &AnswerSchema) -> String {
    short(&sha256_hex(canonical(schema.in_request.schema.clone()).as_bytes()))
}

/// Computes the hash of a model's tools: lepo's own by name, the tools of servers by name and schema. `None`
/// without tools.
pub fn tools_hash(commands: bool, servers: &[Server]) -> Option<String> {
    let of_server = |server: &Server| {
        let name = server.config.name.clone();
        let tool = move |tool: &lepo_tool::mcp::Tool| {
            format!("{} {}", native_name(&name, &tool.name), canonical(tool.parameters()))
        };
        server.tools.iter().map(tool).collect::<Vec<_>>()
    };
    let own = commands.then(|| COMMANDS.to_string());
    let mut tools: Vec<String> = own.into_iter().chain(servers.iter().flat_map(of_server)).collect();
    tools.sort();
    let parts: Vec<&[u8]> = tools.iter().map(String::as_bytes).collect();
    (!parts.is_empty()).then(|| short(&hash_of(&parts)))
}

/// Serialises JSON with sorted keys.
fn canonical(mut value: Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

fn short(hash: &str) -> String {
    hash.chars().take(DIGITS).collect()
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
        let told = options_json(&ModelOptions::default(), &extra).unwrap().to_string();
        assert!(!told.contains("hidden"), "{told}");
    }

    #[test]
    fn tools_that_there_are_none_of_have_no_hash() {
        assert_eq!(tools_hash(false, &[]), None);
        assert!(tools_hash(true, &[]).is_some());
    }
}
