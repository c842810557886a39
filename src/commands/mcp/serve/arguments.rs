//! The arguments of the tools: a struct for each, from which its schema is made, and by which a call is read. A null is an
//! argument that is not given.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::view::KindWord;
use lepo_base::error::{Error, Result};
use lepo_base::time::{self, DayEnd};
use lepo_store::store::now;

/// Default limit of an answer's text, in bytes.
pub const MOST_BYTES: usize = 32_768;
/// Maximum of that limit.
const LIMIT_BYTES: u64 = 1 << 20;
/// Minimum: room for a message's heading and some text.
const LEAST_BYTES: u64 = 512;
/// Maximum results of a search or a list.
const LIMIT_RESULTS: u64 = 1000;

#[derive(Deserialize, JsonSchema)]
pub struct SearchArguments {
    /// A regular expression, matched within a line
    pub pattern: String,
    /// Ignore upper and lower case
    #[serde(default)]
    pub ignore_case: bool,
    /// Only messages of these kinds
    #[serde(default)]
    #[schemars(with = "Vec<KindWord>")]
    pub kinds: Vec<String>,
    /// Only what is not older: 2026-01-31, 2026-01-31T12:00Z, or a span like 90d or 12h
    pub since: Option<String>,
    #[serde(flatten)]
    pub limits: ResultLimits,
}

#[derive(Deserialize, JsonSchema)]
pub struct ShowArguments {
    /// An id from search or list, a branch, @ for the newest, or lepo://STORE/ID
    pub address: String,
    /// The nextCursor of the part before
    pub cursor: Option<String>,
    /// Only that message
    #[serde(default)]
    pub one: bool,
    #[serde(flatten)]
    pub size: SizeLimit,
}

#[derive(Deserialize, JsonSchema)]
pub struct ListArguments {
    #[schemars(description = "Only conversations in which each of these words occurs")]
    pub words: Option<String>,
    /// Only what is not older: 2026-01-31, 2026-01-31T12:00Z, or a span like 90d or 12h
    pub since: Option<String>,
    /// Only what is not newer
    pub until: Option<String>,
    /// Only conversations that name this file
    pub path: Option<String>,
    #[serde(flatten)]
    pub limits: ResultLimits,
}

#[derive(Deserialize, JsonSchema)]
pub struct FileArguments {
    /// A path of the project
    pub path: String,
    #[serde(flatten)]
    pub limits: ResultLimits,
}

#[derive(Deserialize, JsonSchema)]
pub struct NoteArguments {
    /// The message
    pub text: String,
    /// The address of the message it follows, or head to begin a conversation
    pub prev: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct ResultLimits {
    /// Results at most; 20 if not given
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    #[serde(flatten)]
    pub size: SizeLimit,
}

#[derive(Deserialize, JsonSchema)]
pub struct SizeLimit {
    /// Bytes of text at most; 32768 if not given, up to 1048576
    #[schemars(range(min = 1))]
    max_bytes: Option<u64>,
}

impl ResultLimits {
    pub fn results(&self) -> usize {
        self.limit.unwrap_or(20).clamp(1, LIMIT_RESULTS) as usize
    }
}

impl SizeLimit {
    pub fn bytes(&self) -> usize {
        self.max_bytes.unwrap_or(MOST_BYTES as u64).clamp(LEAST_BYTES, LIMIT_BYTES) as usize
    }
}

/// Makes the schema of a tool's arguments, which is flat and allows no others.
pub fn input_schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    let mut schema = T::json_schema(&mut settings.into_generator());
    schema.insert("additionalProperties".into(), false.into());
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
        // A null is understood and not offered; JSON has no width of a number.
        if let Some([kind, _]) = property.get("type").and_then(Value::as_array).map(Vec::as_slice) {
            let kind = kind.clone();
            property.insert("type".into(), kind);
        }
        property.remove("format");
        property.remove("default");
    }
    schema.to_value()
}

/// Reads the arguments of a call. Refuses unknown names, values of another type, and empty texts of required arguments.
pub fn read_arguments<T: DeserializeOwned + JsonSchema>(arguments: &Map<String, Value>) -> Result<T> {
    let schema = input_schema::<T>();
    let no_fields = Map::new();
    let fields = schema["properties"].as_object().unwrap_or(&no_fields);
    if let Some(name) = arguments.keys().find(|name| !fields.contains_key(*name)) {
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        return Err(Error::usage(format!("no argument {name:?}; there are {}", names.join(", "))));
    }
    let given = arguments.iter().filter(|(_, value)| !value.is_null());
    let given: Map<String, Value> = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    for (name, field) in fields {
        let is_required =
            schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
        match given.get(name).filter(|value| !is_required || value.as_str() != Some("")) {
            Some(value) => check_type(name, value, &field["type"])?,
            None if is_required => return Err(Error::usage(format!("{name} is missing"))),
            None => {}
        }
    }
    serde_json::from_value(Value::Object(given))
        .map_err(|error| Error::usage("the arguments cannot be read").because(error))
}

fn check_type(name: &str, value: &Value, kind: &Value) -> Result<()> {
    let (is_right, form) = match kind.as_str() {
        Some("string") => (value.is_string(), "a text"),
        Some("boolean") => (value.is_boolean(), "true or false"),
        Some("integer") => (value.is_u64(), "a whole number"),
        _ => (value.as_array().is_some_and(|items| items.iter().all(Value::is_string)), "a list of texts"),
    };
    is_right.then_some(()).ok_or_else(|| Error::usage(format!("{name} is {form}")))
}

/// Reads a time, in milliseconds since 1970.
pub fn read_time(name: &str, text: Option<&str>, end: DayEnd) -> Result<Option<u64>> {
    let Some(text) = text else { return Ok(None) };
    let time = time::parse(text, now(), end);
    time.map(Some).ok_or_else(|| Error::usage(format!("{name} {text:?} is not a time: give {}", time::FORMS)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_offers_what_is_read_and_nothing_else() {
        let text = |description: &str| json!({ "type": "string", "description": description });
        let number =
            |description: &str| json!({ "type": "integer", "minimum": 1, "description": description });
        let expected = json!({
            "type": "object",
            "properties": {
                "path": text("A path of the project"),
                "limit": number("Results at most; 20 if not given"),
                "max_bytes": number("Bytes of text at most; 32768 if not given, up to 1048576"),
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        assert_eq!(input_schema::<FileArguments>(), expected);
        let kinds = &input_schema::<SearchArguments>()["properties"]["kinds"];
        assert_eq!(kinds["items"]["enum"], json!(["system", "user", "assistant", "tool"]));
    }

    #[test]
    fn an_argument_is_of_its_type_and_a_null_is_none() {
        let read = |arguments: Value| read_arguments::<SearchArguments>(arguments.as_object().unwrap());
        let all = json!({ "pattern": "x", "since": null, "limit": 5000, "max_bytes": 1 });
        let arguments = read(all).unwrap();
        assert_eq!((arguments.since, arguments.limits.results()), (None, 1000));
        assert_eq!(arguments.limits.size.bytes(), 512);
        for (arguments, words) in [
            (json!({}), "pattern is missing"),
            (json!({ "pattern": "", "limit": "x" }), "pattern is missing"),
            (json!({ "pattern": 7 }), "pattern is a text"),
            (json!({ "pattern": "x", "one": null }), "no argument \"one\"; there are pattern, ignore_case"),
            (json!({ "pattern": "x", "ignore_case": 1 }), "ignore_case is true or false"),
            (json!({ "pattern": "x", "limit": -1 }), "limit is a whole number"),
            (json!({ "pattern": "x", "max_bytes": 1.5 }), "max_bytes is a whole number"),
            (json!({ "pattern": "x", "kinds": ["user", 7] }), "kinds is a list of texts"),
        ] {
            let error = read(arguments.clone()).err().unwrap().to_string();
            assert!(error.starts_with(words), "{arguments}: {error}");
        }
    }
}
