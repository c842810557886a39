//! Answers of the proxy's own, in the form of the wire's errors.

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::wire::ProxyWire;

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyRefusal {
    pub status: StatusCode,
    /// The fault, and a remedy.
    pub message: String,
}

impl ProxyRefusal {
    /// Creates a refusal.
    pub fn new(status: StatusCode, message: impl Into<String>) -> ProxyRefusal {
        ProxyRefusal { status, message: message.into() }
    }

    /// Returns the body: for a path of no wire in OpenAI's form, which most clients read.
    pub fn body(&self, wire: Option<ProxyWire>) -> Value {
        let message = &self.message;
        match wire {
            Some(ProxyWire::Messages) => json!({
                "type": "error",
                "error": { "type": self.anthropic_type(), "message": message },
            }),
            Some(ProxyWire::Ollama) => json!({ "error": message }),
            Some(ProxyWire::Chat | ProxyWire::Responses) | None => json!({
                "error": { "message": message, "type": self.openai_type(), "param": null, "code": null },
            }),
        }
    }

    /// Types of errors of <https://docs.claude.com/en/api/errors>.
    fn anthropic_type(&self) -> &'static str {
        match self.status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::FORBIDDEN => "permission_error",
            StatusCode::NOT_FOUND => "not_found_error",
            StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
            status if status.is_client_error() => "invalid_request_error",
            _ => "api_error",
        }
    }

    fn openai_type(&self) -> &'static str {
        match self.status {
            status if status.is_client_error() => "invalid_request_error",
            _ => "server_error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wire_has_its_own_form() {
        let refusal = ProxyRefusal::new(StatusCode::UNAUTHORIZED, "no token");
        for (wire, path, kind) in [
            (None, "/error/message", Some("/error/type")),
            (Some(ProxyWire::Chat), "/error/message", Some("/error/type")),
            (Some(ProxyWire::Responses), "/error/message", Some("/error/type")),
            (Some(ProxyWire::Messages), "/error/message", Some("/error/type")),
            (Some(ProxyWire::Ollama), "/error", None),
        ] {
            let body = refusal.body(wire);
            assert_eq!(body.pointer(path).and_then(Value::as_str), Some("no token"), "{body}");
            assert!(kind.is_none_or(|kind| body.pointer(kind).is_some_and(Value::is_string)), "{body}");
        }
        let too_large = ProxyRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "x").body(Some(ProxyWire::Messages));
        assert_eq!(too_large["error"]["type"], "request_too_large");
    }
}
