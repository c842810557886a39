//! The short form of a JSON Schema: `name, age int, tags [str]`.

use serde_json::{Map, Value, json};

use lepo_base::error::{Error, Result};

/// Names of types, and their JSON Schema types.
const TYPES: &[(&str, &str)] =
    &[("str", "string"), ("int", "integer"), ("num", "number"), ("bool", "boolean")];

/// Maximum nesting of lists.
const DEEPEST: usize = 8;

/// Whether a text can be the short form of a schema, rather than a path.
pub fn is_short_schema(text: &str) -> bool {
    text.contains([' ', ','])
}

/// Returns the schema of an object with these fields, all of them required, and no others.
pub fn short_schema(text: &str) -> Result<Value> {
    let mut fields = Map::new();
    for field in text.split(',').map(str::trim) {
        let mut words = field.split_whitespace();
        let name =
            words.next().ok_or_else(|| wrong(format!("--schema {text:?} has a field without a name")))?;
        let kind = words.next().unwrap_or("str");
        if let Some(more) = words.next() {
            return Err(wrong(format!("--schema: {more:?} follows the type of field {name:?}")));
        }
        let schema = type_of(kind)
            .ok_or_else(|| wrong(format!("--schema: field {name:?} has an unknown type {kind:?}")))?;
        if fields.insert(name.to_string(), schema).is_some() {
            return Err(wrong(format!("--schema has two fields {name:?}")));
        }
    }
    let names: Vec<&String> = fields.keys().collect();
    Ok(json!({ "type": "object", "properties": fields, "required": names, "additionalProperties": false }))
}

fn type_of(word: &str) -> Option<Value> {
    let inner = word.trim_start_matches('[');
    let depth = word.len() - inner.len();
    let kind = inner.trim_end_matches(']');
    if inner.len() - kind.len() != depth || depth > DEEPEST {
        return None;
    }
    let (_, name) = TYPES.iter().find(|(short, _)| *short == kind)?;
    let mut schema = json!({ "type": name });
    for _ in 0..depth {
        schema = json!({ "type": "array", "items": schema });
    }
    Some(schema)
}

fn wrong(what: String) -> Error {
    Error::usage(what).hint("it is like 'name, age int, tags [str]'; types: str, int, num, bool, [TYPE]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::hint::HintTarget;

    #[test]
    fn a_short_form_is_an_object_with_these_fields_alone() {
        let (text, int) = (json!({"type": "string"}), json!({"type": "integer"}));
        for (short, properties) in [
            ("name, age int", json!({"name": text, "age": int})),
            ("이름, 나이 int", json!({"이름": text, "나이": int})),
            ("a  str ,b num,c bool", json!({"a": text, "b": {"type": "number"}, "c": {"type": "boolean"}})),
            ("tags [str]", json!({"tags": {"type": "array", "items": text}})),
            ("m [[int]]", json!({"m": {"type": "array", "items": {"type": "array", "items": int}}})),
        ] {
            assert!(is_short_schema(short), "{short}");
            let schema = short_schema(short).unwrap();
            assert_eq!(schema["properties"], properties, "{short}");
            assert_eq!(schema["required"].as_array().unwrap().len(), properties.as_object().unwrap().len());
            assert_eq!(schema["additionalProperties"], false);
        }
        for wrong in ["a, a", "a,", "a float", "a [str", "a str]", "a int b", "a []", ","] {
            let error = short_schema(wrong).unwrap_err();
            assert_eq!(error.kind.exit_code(), 2, "{wrong}");
            assert!(error.hint_for(HintTarget::SHELL).unwrap().contains("[TYPE]"), "{wrong}");
        }
        assert!(!is_short_schema("person.json"));
    }
}
