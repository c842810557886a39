//! Finds the failure that an event or a document reports, at any position.
//!
//! Servers add empty error fields to successful answers, so a failure needs an error message or an error code.

use serde_json::{Map, Value, json};

use super::error_text::{error_excerpt, excerpt};
use lepo_base::error::message_in_error;

/// Fields that contain an error.
const FIELDS: &[&str] = &["error", "errors", "err", "exception", "fault"];

/// Fields whose text is always an error.
const TEXTS: &[&str] =
    &["error_message", "error_msg", "errorMessage", "errorMsg", "err_msg", "error_description"];

/// Fields with a text that is an error only if something else marks it as one.
const WORDS: &[&str] = &["message", "msg", "detail"];

/// Fields with the number or word of a result.
const CODES: &[&str] =
    &["code", "status", "status_code", "statusCode", "http_status", "error_code", "errorCode"];

/// Values of fields that mean success.
const WELL: &[&str] = &[
    "success",
    "succeeded",
    "successful",
    "ok",
    "okay",
    "none",
    "null",
    "nil",
    "undefined",
    "no error",
    "no_error",
    "0",
    "200",
    "true",
    "false",
    "completed",
    "in_progress",
    "running",
    "pending",
    "queued",
    "processing",
];

/// Returns the error that a value is or contains, if it has the form of one. `is_named` if the event's name says
/// so.
pub(super) fn failure_in(event: &Value, is_named: bool) -> Option<Value> {
    match event {
        Value::Object(fields) => in_object(fields, is_named),
        // Google wraps an error in a list.
        Value::Array(items) => {
            items.iter().find_map(|item| item.as_object().and_then(|fields| in_object(fields, is_named)))
        }
        Value::String(text) if is_named && is_bad_text(text) => Some(event.clone()),
        _ => None,
    }
}

fn in_object(fields: &Map<String, Value>, is_named: bool) -> Option<Value> {
    let whole = || Value::Object(fields.clone());
    for error in FIELDS.iter().filter_map(|name| fields.get(*name)) {
        match error {
            Value::Object(inner) if is_bad_object(inner) => return Some(with_code(inner, fields)),
            Value::String(text) if is_bad_text(text) => return Some(whole()),
            Value::Array(items) => {
                let bad = items.iter().find(|item| match item {
                    Value::Object(inner) => is_bad_object(inner),
                    Value::String(text) => is_bad_text(text),
                    _ => false,
                });
                if let Some(bad) = bad {
                    return Some(bad.clone());
                }
            }
            _ => {}
        }
    }
    let text = |name: &&str| fields.get(*name).and_then(Value::as_str).filter(|text| is_bad_text(text));
    if TEXTS.iter().any(|name| text(name).is_some()) {
        return Some(whole());
    }
    if let Some(error) = fields.get("base_resp").and_then(base_response) {
        return Some(error);
    }
    if let Some(error) = in_choices(fields) {
        return Some(error);
    }
    // A failed response, within its event.
    if let Some(Value::Object(response)) = fields.get("response")
        && let Some(error @ Value::Object(inner)) = response.get("error")
        && is_bad_object(inner)
    {
        return Some(error.clone());
    }
    let has_words = WORDS.iter().any(|name| match fields.get(*name) {
        Some(Value::String(text)) => is_bad_text(text),
        // FastAPI's list of validation errors.
        Some(list @ Value::Array(_)) => *name == "detail" && message_in_error(list).is_some(),
        _ => false,
    });
    let is_typed = fields.get("type").and_then(Value::as_str) == Some("error");
    let has_code = CODES.iter().filter_map(|name| fields.get(*name)).any(is_bad_code);
    (has_words && (is_named || is_marked(fields)) || (is_named || is_typed) && has_code).then(whole)
}

/// Whether a field other than the message marks an object as an error.
fn is_marked(fields: &Map<String, Value>) -> bool {
    let word = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let is_error = |word: &str| word.contains("error") || matches!(word, "failed" | "failure" | "exception");
    is_error(&word("object"))
        || is_error(&word("type"))
        || is_error(&word("status"))
        || fields.get("success") == Some(&Value::Bool(false))
        || fields.get("error") == Some(&Value::Bool(true))
        || CODES.iter().filter_map(|name| fields.get(*name)).any(is_bad_code)
}

/// Returns the error of a choice, or of its delta or message.
fn in_choices(fields: &Map<String, Value>) -> Option<Value> {
    let choices = fields.get("choices")?.as_array()?;
    let own = choices.iter().filter_map(Value::as_object);
    own.flat_map(|choice| {
        let parts = ["delta", "message"].iter().filter_map(|name| choice.get(*name)?.as_object());
        std::iter::once(choice).chain(parts)
    })
    .find_map(|fields| match fields.get("error")? {
        error @ Value::Object(inner) if is_bad_object(inner) => Some(error.clone()),
        error @ Value::String(text) if is_bad_text(text) => Some(error.clone()),
        _ => None,
    })
}

/// MiniMax's form: a status next to an answer, 0 if it succeeded.
fn base_response(response: &Value) -> Option<Value> {
    let code = response.get("status_code").filter(|code| is_bad_code(code))?;
    Some(json!({"message": response.get("status_msg"), "code": code}))
}

/// Returns an error with the codes of its siblings.
fn with_code(error: &Map<String, Value>, beside: &Map<String, Value>) -> Value {
    let mut error = error.clone();
    for name in CODES.iter().chain(&["type"]) {
        if !error.contains_key(*name)
            && let Some(code) = beside.get(*name).filter(|code| !code.is_null())
        {
            error.insert((*name).to_owned(), code.clone());
        }
    }
    Value::Object(error)
}

fn is_bad_object(error: &Map<String, Value>) -> bool {
    let words = message_in_error(&Value::Object(error.clone()));
    let kind = error.get("type").and_then(Value::as_str);
    words.as_deref().or(kind).is_some_and(is_bad_text)
        || CODES.iter().filter_map(|name| error.get(*name)).any(is_bad_code)
}

fn is_bad_text(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && !WELL.iter().any(|well| text.eq_ignore_ascii_case(well))
}

/// Whether a code is not a success; a text counts if it is not a number.
fn is_bad_code(code: &Value) -> bool {
    match code {
        Value::Number(number) => !matches!(number.as_f64(), Some(0.0 | 200.0)),
        Value::String(text) => is_bad_text(text),
        _ => false,
    }
}

/// Returns the message of an error: its own, else its type, else all of it.
pub(super) fn failure_message(error: &Value) -> String {
    let kind = || Some(error.get("type")?.as_str()?.to_owned());
    error_excerpt(error).or_else(kind).unwrap_or_else(|| excerpt(error.to_string().as_bytes()))
}

/// Returns the HTTP status of an error, from any field.
pub(super) fn status_in(error: &Value) -> Option<u16> {
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    let codes = CODES.iter().filter_map(|name| number(error.get(*name)?));
    codes.filter_map(|code| u16::try_from(code).ok()).find(|code| (400..600).contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_what_has_the_shape_of_one() {
        for (event, is_named, words) in [
            (json!({"error": {"message": "no"}}), false, Some("no")),
            (json!({"error": "no"}), false, Some("no")),
            (json!([{"error": {"message": "no"}}]), false, Some("no")),
            (json!({"errors": [{"message": "no"}]}), false, Some("no")),
            (json!({"error": {"type": "overloaded_error"}}), false, Some("overloaded_error")),
            (json!({"error": "no", "error_type": "validation"}), false, Some("no")),
            (json!({"error_message": "no", "error_type": "x"}), false, Some("no")),
            (json!({"error_code": 336003, "error_msg": "no"}), false, Some("no")),
            (json!({"choices": [{"error": {"message": "no", "code": 502}}]}), false, Some("no")),
            (json!({"choices": [{"delta": {"error": "no"}}]}), false, Some("no")),
            (json!({"base_resp": {"status_code": 1008, "status_msg": "no"}}), false, Some("no")),
            (json!({"object": "error", "message": "no", "code": 400}), false, Some("no")),
            (json!({"code": 500, "message": "no"}), false, Some("no")),
            (json!({"success": false, "message": "no"}), false, Some("no")),
            (json!({"error": true, "message": "no"}), false, Some("no")),
            (json!({"status": "error", "message": "no"}), false, Some("no")),
            (json!({"message": "no"}), true, Some("no")),
            (json!({"detail": [{"msg": "no"}]}), true, Some("no")),
            (json!("no"), true, Some("no")),
            (json!({"type": "response.failed", "response": {"error": {"message": "no"}}}), false, Some("no")),
            (json!({"type": "error", "code": "server_error"}), false, Some("server_error")),
            // Empty error fields, and values that mean success.
            (json!({"error": null}), false, None),
            (json!({"error": ""}), false, None),
            (json!({"error": " \n"}), false, None),
            (json!({"error": {}}), false, None),
            (json!({"error": []}), false, None),
            (json!({"error": [null, {}, ""]}), false, None),
            (json!({"error": false}), false, None),
            (json!({"error": 0}), false, None),
            (json!({"error": true}), false, None),
            (json!({"error": "None"}), false, None),
            (json!({"error": {"message": null, "type": "", "param": null, "code": null}}), false, None),
            (json!({"error": {"code": 0, "message": "Success"}}), false, None),
            (json!({"code": 0, "message": "Success"}), false, None),
            (json!({"code": "0", "msg": "ok"}), false, None),
            (json!({"base_resp": {"status_code": 0, "status_msg": ""}}), false, None),
            (json!({"choices": [{"error": null}], "error": null}), false, None),
            (json!({"message": "waiting in line"}), false, None),
            (json!({"type": "ping", "message": "hi"}), false, None),
            (json!({"status": "running", "message": "loading the model"}), false, None),
            (json!({"tool": "web_search", "label": "x", "status": "running"}), false, None),
            (json!({"tool": "web_search", "label": "x", "status": "failed"}), false, None),
            (json!({"type": "response.created", "response": {"error": null}}), false, None),
            (json!(null), true, None),
            (json!(""), true, None),
            (json!("no"), false, None),
            (json!(7), true, None),
        ] {
            let found = failure_in(&event, is_named).map(|error| failure_message(&error));
            assert_eq!(found.as_deref(), words, "{event}");
        }
    }

    #[test]
    fn a_status_is_found_in_every_field_and_form() {
        for (error, status) in [
            (json!({"code": 429}), Some(429)),
            (json!({"code": "503"}), Some(503)),
            (json!({"code": "rate_limit", "status": 400}), Some(400)),
            (json!({"code": 1261}), None),
            (json!({"status_code": 504}), Some(504)),
            (json!({"code": 200}), None),
            (json!({"code": null}), None),
            (json!("x"), None),
        ] {
            assert_eq!(status_in(&error), status, "{error}");
        }
    }
}
