//! JSON-RPC 2.0, one message a line: a message is a request, a notification, an answer, or malformed.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// The line is not JSON, too long or too deep.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is not a message, or the request is not allowed now.
pub const INVALID_REQUEST: i64 = -32600;
/// The method does not exist.
pub const NO_METHOD: i64 = -32601;
/// The parameters do not fit the method.
pub const INVALID_PARAMS: i64 = -32602;
/// An internal failure.
pub const INTERNAL: i64 = -32603;
/// The session does not exist.
pub const NOT_FOUND: i64 = -32002;

/// An error as an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// Its code.
    pub code: i64,
    /// Its message.
    pub message: String,
    /// Details for programs.
    pub data: Option<Value>,
}

impl RpcError {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

    /// Creates the error for an unknown method.
    pub fn no_method(method: &str) -> RpcError {
        let method: String = method.chars().take(200).collect();
        RpcError::new(NO_METHOD, format!("unknown method {method:?}"))
    }

    /// Parses an error; a malformed one gets a default code and message.
    pub fn read(value: &Value) -> RpcError {
        RpcError {
            code: value["code"].as_i64().unwrap_or(INTERNAL),
            message: value["message"].as_str().unwrap_or("an error without a message").to_string(),
            data: value.get("data").cloned(),
        }
    }

    fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }
}

/// A message from the other side.
#[derive(Debug, Clone, PartialEq)]
pub enum RpcMessage {
    /// A request, which expects an answer.
    Request {
        /// The id for the answer.
        id: Value,
        /// The method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// A notification, which expects no answer.
    Notification {
        /// The method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// The answer to a request of this side.
    Answer {
        /// The request's id.
        id: Value,
        /// The result or the error.
        result: Result<Value, RpcError>,
    },
    /// A malformed message, to be answered with this error.
    Wrong {
        /// The id for the answer: null if it could not be parsed.
        id: Value,
        /// The error.
        error: RpcError,
    },
}

impl RpcMessage {
    /// Creates the error for a line of more than `limit` bytes.
    pub fn too_long(limit: usize) -> RpcMessage {
        let error = RpcError::new(PARSE_ERROR, format!("the line is longer than {} MiB", limit >> 20));
        RpcMessage::Wrong { id: Value::Null, error }
    }

    /// Parses one line; `None` if it is blank. The parser limits nesting. A byte order mark is skipped.
    pub fn read(line: &[u8]) -> Option<RpcMessage> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let wrong =
            |id: Value, code: i64, what: &str| RpcMessage::Wrong { id, error: RpcError::new(code, what) };
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(error) => {
                return Some(wrong(
                    Value::Null,
                    PARSE_ERROR,
                    &format!("the line is not valid JSON: {error}"),
                ));
            }
        };
        let Value::Object(mut message) = value else {
            return Some(wrong(Value::Null, INVALID_REQUEST, "a message must be a JSON object"));
        };
        let id = message.remove("id");
        let is_id =
            |id: &Value| id.is_string() || id.is_null() || id.as_i64().is_some() || id.as_u64().is_some();
        let sound = id.clone().filter(is_id).unwrap_or_default();
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Some(wrong(sound, INVALID_REQUEST, "a message must have \"jsonrpc\": \"2.0\""));
        }
        let params = message.remove("params").unwrap_or_default();
        match (message.remove("method"), id) {
            (Some(Value::String(method)), Some(id)) if is_id(&id) => {
                Some(RpcMessage::Request { id, method, params })
            }
            (Some(Value::String(_)), Some(_)) => {
                Some(wrong(Value::Null, INVALID_REQUEST, "`id` must be a string or a whole number"))
            }
            (Some(Value::String(method)), None) => Some(RpcMessage::Notification { method, params }),
            (Some(_), _) => Some(wrong(sound, INVALID_REQUEST, "`method` must be a string")),
            (None, Some(id)) => Some(answer(id, &mut message).unwrap_or_else(|| {
                wrong(sound, INVALID_REQUEST, "a message must have a `method`, a `result` or an `error`")
            })),
            (None, None) => Some(wrong(
                Value::Null,
                INVALID_REQUEST,
                "a message must have a `method` or an \
                `id`",
            )),
        }
    }
}

fn answer(id: Value, message: &mut Map<String, Value>) -> Option<RpcMessage> {
    if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
        return Some(RpcMessage::Answer { id, result: Err(RpcError::read(error)) });
    }
    Some(RpcMessage::Answer { id, result: Ok(message.remove("result")?) })
}

/// A method with its parameters.
#[derive(Serialize)]
struct MethodCall<'c> {
    method: &'c str,
    params: &'c Value,
}

/// A request or a notification.
#[derive(Serialize)]
struct CallLine<'c, C> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(flatten)]
    call: &'c C,
}

/// Builds the line of a request, without its line end.
pub fn request(id: u64, method: &str, params: &Value) -> String {
    line(Some(id), &MethodCall { method, params })
}

/// Builds the line of a notification.
pub fn notification(method: &str, params: &Value) -> String {
    line(None, &MethodCall { method, params })
}

/// Builds the line of a request that has its method in it.
pub fn request_line(id: u64, call: &impl Serialize) -> String {
    line(Some(id), call)
}

/// Builds the line of a notification that has its method in it.
pub fn notification_line(call: &impl Serialize) -> String {
    line(None, call)
}

fn line(id: Option<u64>, call: &impl Serialize) -> String {
    json!(CallLine { jsonrpc: "2.0", id, call }).to_string()
}

/// Builds the line of an answer.
pub fn answer_line(id: &Value, result: Result<Value, RpcError>) -> String {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error.to_json() }).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> Option<i64> {
        match RpcMessage::read(line.as_bytes())? {
            RpcMessage::Wrong { error, .. } => Some(error.code),
            _ => Some(0),
        }
    }

    #[test]
    fn every_line_is_a_message_or_an_error() {
        let deep = "[".repeat(200_000);
        let deep_params =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{}"#, "{\"a\":".repeat(100_000));
        for (line, expected) in [
            ("", None),
            (" \r", None),
            ("\u{feff}", None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, Some(0)),
            // https://github.com/modelcontextprotocol/kotlin-sdk/issues/956, of MCP
            ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\r", Some(0)),
            (r#"{"jsonrpc":"2.0","id":"한","method":"a","params":[]}"#, Some(0)),
            (r#"{"jsonrpc":"2.0","method":"a"}"#, Some(0)),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, Some(0)),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#, Some(0)),
            (r#"{"jsonrpc":"2.0","id":1,"error":7}"#, Some(0)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, Some(INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, Some(INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Some(INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":1}"#, Some(INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0"}"#, Some(INVALID_REQUEST)),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, Some(INVALID_REQUEST)),
            (r#"{"id":1,"method":"a"}"#, Some(INVALID_REQUEST)),
            ("[]", Some(INVALID_REQUEST)),
            ("7", Some(INVALID_REQUEST)),
            ("{", Some(PARSE_ERROR)),
            ("\u{0}", Some(PARSE_ERROR)),
            (&deep, Some(PARSE_ERROR)),
            (&deep_params, Some(PARSE_ERROR)),
        ] {
            assert_eq!(code(line), expected, "{}", line.chars().take(60).collect::<String>());
        }
        assert!(matches!(RpcMessage::read(b"\xff\xfe"), Some(RpcMessage::Wrong { .. })));
    }

    #[test]
    fn an_error_keeps_the_id_of_what_it_answers() {
        let read = |line: &str| RpcMessage::read(line.as_bytes());
        let id_of = |line: &str| match read(line) {
            Some(RpcMessage::Wrong { id, .. }) => id,
            other => panic!("{other:?}"),
        };
        assert_eq!(id_of(r#"{"id":"x","jsonrpc":"2.0"}"#), "x");
        assert_eq!(id_of(r#"{"id":[1],"jsonrpc":"2.0"}"#), Value::Null);
        let line = answer_line(&json!(3), Err(RpcError::no_method("a\nb")));
        assert_eq!(
            line,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"unknown method \"a\\nb\""}}"#
        );
        assert!(!request(1, "m", &json!({"a": "x\ny"})).contains('\n'));
    }

    #[test]
    fn a_call_has_one_form_whatever_builds_it() {
        let params: Value = serde_json::from_str(r#"{"b":99999999999999999999,"a":[1.50,null]}"#).unwrap();
        let call = json!({ "method": "m", "params": params });
        let request_text =
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"b":99999999999999999999,"a":[1.50,null]}}"#;
        for line in [request(1, "m", &params), request_line(1, &call)] {
            assert_eq!(line, request_text);
        }
        for line in [notification("m", &params), notification_line(&call)] {
            assert_eq!(line, request_text.replace(r#""id":1,"#, ""));
        }
    }
}
