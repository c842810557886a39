//! Describes client errors in short plain text: no type names, no URLs, one line.

use std::error::Error;

use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::{CallFailure, SignInNeeded};
use lepo_base::error::{cause, message_in_body};

pub fn from_init_error(error: ClientInitializeError) -> CallFailure {
    use ClientInitializeError as E;
    match error {
        E::ConnectionClosed(_) => CallFailure::Lost("it closed the connection".to_string()),
        E::TransportError { error, .. } => from_transport_error(error.error.as_ref()),
        E::JsonRpcError(error) => CallFailure::Refused(one_line(&error.message)),
        E::NoCompatibleProtocolVersion { .. } => {
            CallFailure::Refused("it supports no version of the protocol that lepo knows".to_string())
        }
        E::LegacyFallbackFailed { fallback, .. } => from_init_error(*fallback),
        E::Cancelled => CallFailure::Lost("the request was cancelled".to_string()),
        _ => CallFailure::Malformed("its first answer does not follow the protocol".to_string()),
    }
}

pub fn from_service_error(error: ServiceError) -> CallFailure {
    match error {
        ServiceError::McpError(error) => CallFailure::Refused(one_line(&error.message)),
        ServiceError::TransportSend(error) => from_transport_error(error.error.as_ref()),
        ServiceError::TransportClosed => CallFailure::Lost("the connection was lost".to_string()),
        ServiceError::Timeout { timeout } => CallFailure::Silent(timeout),
        ServiceError::Cancelled { .. } => CallFailure::Lost("it was cancelled".to_string()),
        _ => CallFailure::Malformed("it sent an unexpected answer".to_string()),
    }
}

/// Describes a failure below the protocol. If a sign-in would resolve it, it becomes `Failure::SignIn`.
fn from_transport_error(error: &(dyn Error + 'static)) -> CallFailure {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(error) = error.downcast_ref::<StreamableHttpError<reqwest::Error>>()
            && let Some(needed) = sign_in(error)
        {
            return CallFailure::SignIn(needed);
        }
        at = error.source();
    }
    CallFailure::Lost(transport_text(error))
}

fn sign_in(error: &StreamableHttpError<reqwest::Error>) -> Option<SignInNeeded> {
    use StreamableHttpError as E;
    let needed = |words: &str| SignInNeeded { reason: one_line(words), ..SignInNeeded::default() };
    match error {
        E::AuthRequired(required) => Some(SignInNeeded {
            challenge: Some(required.www_authenticate_header.clone()),
            ..needed("it requires a sign-in (HTTP 401)")
        }),
        E::InsufficientScope(missing) => {
            let scope = missing.required_scope.as_deref().map(one_line);
            let wanted = scope.as_ref().map(|scope| format!(": {scope}")).unwrap_or_default();
            Some(SignInNeeded {
                challenge: Some(missing.www_authenticate_header.clone()),
                scope,
                ..needed(&format!("the sign-in does not allow this (HTTP 403){wanted}"))
            })
        }
        E::Auth(AuthError::TokenRefreshRejected(words)) => {
            Some(SignInNeeded { has_expired: true, ..needed(words) })
        }
        _ => None,
    }
}

fn transport_text(error: &(dyn Error + 'static)) -> String {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(error) = error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            return http_text(error);
        }
        if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            return reqwest_text(error);
        }
        at = error.source();
    }
    cause(error)
}

fn http_text(error: &StreamableHttpError<reqwest::Error>) -> String {
    use StreamableHttpError as E;
    match error {
        E::Client(error) => reqwest_text(error),
        E::Auth(AuthError::TokenRefreshFailed(words)) => one_line(words),
        E::UnexpectedServerResponse(words) => unexpected(words),
        E::Deserialize(error) => not_a_message(&error.to_string()),
        E::UnexpectedContentType(_) => "it answered neither JSON nor events".to_string(),
        other => one_line(&cause(other)),
    }
}

/// Rewrites the library's text about an unexpected answer, which may contain names of its types.
fn unexpected(text: &str) -> String {
    match text.strip_prefix("could not parse JSON response as ServerJsonRpcMessage: ") {
        Some(rest) => not_a_message(rest),
        None if text.starts_with("expect ") => "it sent an unexpected answer".to_string(),
        None => match text.strip_prefix("HTTP ").and_then(|rest| rest.split_once(": ")) {
            Some((status, body)) => one_line(&format!("HTTP {status}: {}", body_text(body))),
            None => one_line(&body_text(text)),
        },
    }
}

/// Extracts the message from a body, which may be a web page or events.
fn body_text(body: &str) -> String {
    message_in_body(body).unwrap_or_else(|| body.to_string())
}

/// Rewrites the JSON parser's text about an answer, which ends with the beginning of that answer.
fn not_a_message(text: &str) -> String {
    if text.starts_with(TOO_DEEP) {
        return "its answer is nested too deep".to_string();
    }
    let behind_place = text.split_once(" at line ").and_then(|(_, rest)| rest.split_once(": "));
    // If the answer is JSON but not a message, the parser names no position.
    let behind_words = || text.split_once("JSON-RPC message: ");
    match behind_place.or_else(behind_words).map(|(_, answer)| one_line(&body_text(answer))) {
        Some(answer) if !answer.is_empty() => format!("its answer is not a protocol message: {answer}"),
        _ => "its answer is not a protocol message".to_string(),
    }
}

/// The JSON parser's error about too many levels starts like this.
pub const TOO_DEEP: &str = "recursion limit exceeded";

/// Describes an HTTP error without the URL, which may contain a secret.
pub fn reqwest_text(error: &reqwest::Error) -> String {
    match error.status() {
        Some(status) => format!("it answered HTTP {}", status.as_u16()),
        None if error.is_timeout() => "it took too long".to_string(),
        None if error.source().is_none() => "the request failed".to_string(),
        None if error.is_connect() => format!("it cannot be reached: {}", cause(error)),
        None => cause(error),
    }
}

/// Returns the first 300 characters, with white space and control characters folded to single spaces.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    words.join(" ").trim_end_matches(':').chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_of_the_library_is_named() {
        let parsed = |text: &str| {
            unexpected(&format!("could not parse JSON response as ServerJsonRpcMessage: {text}"))
        };
        for (text, expected) in [
            (parsed("recursion limit exceeded at line 1 column 128: [[["), "its answer is nested too deep"),
            (
                parsed("unrecognized JSON-RPC message: {\"a\":\n1}"),
                "its answer is not a protocol message: {\"a\": 1}",
            ),
            (
                parsed("expected value at line 1 column 1: no: thing"),
                "its answer is not a protocol message: no: thing",
            ),
            (parsed("EOF"), "its answer is not a protocol message"),
            (unexpected("expect json, got Accepted"), "it sent an unexpected answer"),
            (unexpected("HTTP 500: oh"), "HTTP 500: oh"),
            (
                unexpected("HTTP 502 Bad Gateway: <html><h1>no\nway</h1></html>"),
                "HTTP 502 Bad Gateway: no way",
            ),
            (unexpected("HTTP 400: data: {\"error\":{\"message\":\"bad\"}}"), "HTTP 400: bad"),
            (
                parsed("expected value at line 1 column 1: <p>Hello</p>"),
                "its answer is not a protocol message: Hello",
            ),
        ] {
            assert_eq!(text, expected);
        }
    }
}
