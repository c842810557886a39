//! Facts about a request for the journal: model, options, schema, tools, client.

use serde_json::{Map, Value};

use crate::request::ProxyRequest;
use lepo_turn::Masking;
use lepo_turn::recorded::hash_of_json;

/// Longest name of a client, in characters.
const CLIENT: usize = 80;

/// Facts about a request for the journal, masked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestNotes {
    /// The model, as the client names it.
    pub model: String,
    /// The options by lepo's own names; `None` without any.
    pub options: Option<Value>,
    /// A hash of the schema.
    pub schema: Option<String>,
    /// Hashes of the tools by their names; `None` without any.
    pub tools: Option<Value>,
    /// The program that asks.
    pub client: Option<String>,
    /// The beginning of the answer.
    pub prefill: Option<String>,
    /// Whether the request continues a response that the store does not know.
    pub is_unknown_response: bool,
}

impl RequestNotes {
    /// Collects the facts about a request.
    pub fn new(
        request: &ProxyRequest,
        client: Option<&str>,
        masking: &Masking,
        is_unknown_response: bool,
    ) -> RequestNotes {
        let mask = |text: &str| masking.masked(text).into_owned();
        // A mask contains nothing that JSON would escape; options that masking breaks are dropped.
        let options = (!request.options().is_empty()).then(|| Value::Object(request.options().clone()));
        let options = options.and_then(|options| serde_json::from_str(&mask(&options.to_string())).ok());
        let client = client.and_then(|client| client.split_whitespace().next());
        let client =
            client.map(|client| mask(client).chars().filter(|c| !c.is_control()).take(CLIENT).collect());
        RequestNotes {
            model: mask(request.model()),
            options,
            schema: request.schema().map(|schema| hash_of_json(schema.clone())),
            tools: tool_hashes(request),
            client,
            prefill: request.prefill().map(mask),
            is_unknown_response,
        }
    }
}

/// Returns a hash of each tool's schema by the tool's name: requests with equal hashes count as equal in their tools.
pub fn tool_hashes(request: &ProxyRequest) -> Option<Value> {
    let hash = |schema: &Value| Value::from(hash_of_json(schema.clone()));
    let hashes = request.tools().iter().map(|tool| (tool.name.clone(), hash(&tool.schema)));
    let hashes: Map<String, Value> = hashes.collect();
    (!hashes.is_empty()).then_some(Value::Object(hashes))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::ProxyWire;

    fn request(body: &Value) -> ProxyRequest {
        ProxyRequest::read(ProxyWire::Chat, "", body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn facts_are_masked_and_the_same_however_a_schema_is_written() {
        let token = format!("sk-{}-api03-{}", "ant", "aZ7Or0xhGfxTEUQXbx6Ppv9AVlolLA1z");
        let messages = json!([{"role": "user", "content": "a"}]);
        let body = json!({"model": "m", "messages": messages, "stop": token, "temperature": 0,
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {"a": 1, "b": 2}}}]});
        let masking = Masking::shapes_only();
        let notes = RequestNotes::new(&request(&body), Some("curl/8.5 more"), &masking, false);
        assert!(!format!("{notes:?}").contains(&token), "{notes:?}");
        assert_eq!(notes.options.as_ref().unwrap()["temperature"], json!(0.0));
        assert_eq!((notes.client.as_deref(), notes.schema.as_ref()), (Some("curl/8.5"), None));
        let other = json!({"model": "m", "messages": messages,
            "functions": [{"name": "f", "description": "d", "parameters": {"b": 2, "a": 1}}]});
        assert_eq!(tool_hashes(&request(&other)), notes.tools);
        let bare = RequestNotes::new(&request(&json!({"messages": messages})), None, &masking, false);
        assert_eq!((bare.options, bare.tools, bare.client), (None, None, None));
    }
}
