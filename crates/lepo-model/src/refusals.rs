//! The meaning of a refusal, by its status and its texts. The first row of the table that matches counts; without one,
//! the status alone decides.
//!
//! Each meaning has one reaction and one hint, in `refusal` and `remote`.

mod table;

use serde_json::Value;

use super::failure::status_in;
use Meaning::{Field, Forbidden, Key, Limit, Model, OverMinute, Overflow, Path, UsedUp};
pub(super) use table::Meaning;
use table::{ROWS, RefusalRow};

/// Returns the meaning of a refusal with this status and body; `model` is the requested name.
pub(super) fn meaning(status: u16, body: &str, model: &str) -> Meaning {
    let body = body.to_lowercase();
    if matches!(status, 413 | 429) && is_over_minute(&body) && !body.contains("insufficient_quota") {
        return OverMinute;
    }
    match ROWS.iter().find(|row| row.fits(status, &body)) {
        Some(row) if row.meaning == Overflow && is_mostly_answer(&body) => Limit,
        Some(row) => row.meaning,
        None => of_status(status, &body, model),
    }
}

fn of_status(status: u16, body: &str, model: &str) -> Meaning {
    match status {
        401 => Key,
        402 => UsedUp,
        407 => Meaning::Proxy,
        403 | 451 if speaks_of_key(body) => Key,
        403 | 451 => Forbidden,
        404 | 405 if speaks_of_model(body, model) => Model,
        404 | 405 => Path,
        408 | 425 | 429 | 500..=599 => Meaning::Wait,
        413 => Overflow,
        300..=399 => Meaning::Moved,
        _ => Meaning::Request,
    }
}

/// Returns the rejected field, as the word of a quirk.
pub(super) fn field(status: u16, body: &str) -> Option<&'static str> {
    let body = body.to_lowercase();
    ROWS.iter().filter(|row| row.fits(status, &body)).find_map(|row| match row.meaning {
        Field(word) => Some(word),
        _ => None,
    })
}

/// Whether the text means a blocked account, whatever the status.
pub(super) fn is_quota_used_up(body: &str) -> bool {
    let body = body.to_lowercase();
    ROWS.iter().any(|row| row.meaning == UsedUp && row.phrases.iter().all(|word| body.contains(word)))
}

/// Whether the text has a limit and a request that exceeds it: `Limit 8000, Requested 9100`.
fn is_over_minute(body: &str) -> bool {
    let number = |word: &str| {
        body.split(word).skip(1).find_map(|behind| {
            let digits = behind.trim_start_matches([':', ' ']);
            let end = digits.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(digits.len());
            digits.split_at(end).0.replace(',', "").parse::<u64>().ok()
        })
    };
    matches!((number("limit"), number("requested")), (Some(limit), Some(requested)) if requested > limit)
}

/// Whether the text counts the tokens of the request and of the requested answer, and the answer is the longer part.
fn is_mostly_answer(body: &str) -> bool {
    let number_before = |words: &[&str]| {
        words.iter().find_map(|word| {
            let (before, _) = body.split_once(word)?;
            let before = before.trim_end();
            let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse::<u64>().ok()
        })
    };
    // vLLM writes the answer's length alone: `(32000 > 32768 - 1000)`.
    let wanted = number_before(&["output tokens", "in the completion", "for the completion"])
        .or_else(|| number_before(&[" > "]).filter(|_| body.contains("is too large")));
    let sent = number_before(&["input tokens", "in the messages", "in your prompt"]);
    matches!((sent, wanted), (Some(sent), Some(wanted)) if sent < wanted / 4)
}

/// Texts about a key if they are separate, unlike the one in `max_tokens`.
const KEY_WORDS: &[&str] = &[
    "key",
    "keys",
    "apikey",
    "token",
    "credential",
    "credentials",
    "permission",
    "permissions",
    "unauthorized",
    "unauthorised",
    "authentication",
    "authorization",
    "authenticated",
    "authorized",
];

fn speaks_of_key(body: &str) -> bool {
    body.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| KEY_WORDS.contains(&word))
}

fn speaks_of_model(body: &str, model: &str) -> bool {
    let model = model.to_lowercase();
    ["model", "deployment", "endpoints found"].iter().any(|word| body.contains(word))
        || model.len() > 2 && body.contains(&model)
}

/// The HTTP statuses of error codes and types.
const STATUSES: &[(&str, u16)] = &[
    ("invalid_request_error", 400),
    ("invalid_argument", 400),
    ("bad_request", 400),
    ("context_length_exceeded", 400),
    ("exceed_context_size_error", 400),
    ("invalid_prompt", 400),
    ("authentication_error", 401),
    ("unauthenticated", 401),
    ("invalid_api_key", 401),
    ("permission_error", 403),
    ("permission_denied", 403),
    ("not_found_error", 404),
    ("not_found", 404),
    ("model_not_found", 404),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("rate_limit_reached", 429),
    ("rate_limit", 429),
    ("too_many_requests", 429),
    ("resource_exhausted", 429),
    ("api_error", 500),
    ("server_error", 500),
    ("internal_error", 500),
    ("internal_server_error", 500),
    ("internal", 500),
    ("bad_gateway", 502),
    ("upstream_error", 502),
    ("server_is_overloaded", 503),
    ("slow_down", 503),
    ("service_unavailable", 503),
    ("unavailable", 503),
    ("timeout_error", 504),
    ("timeout", 504),
    ("deadline_exceeded", 504),
    ("overloaded_error", 529),
    ("engine_overloaded_error", 529),
];

/// Returns the HTTP status that an error within a stream would have had; `None` if it is unknown.
pub(super) fn status_of(error: &Value) -> Option<u16> {
    let text = error.to_string().to_lowercase();
    if is_quota_used_up(&text) {
        return Some(402);
    }
    if let Some(status) = status_in(error) {
        return Some(status);
    }
    let by_words = || {
        let says = |row: &&RefusalRow| row.phrases.iter().all(|word| text.contains(word));
        ROWS.iter().find(says).and_then(|row| row.statuses.first().copied())
    };
    known_code(error).and_then(of_word).or_else(by_words)
}

/// Returns the code or type of an error if its status is known.
pub(super) fn known_code(error: &Value) -> Option<&str> {
    let fields = ["code", "type", "status", "error_type"].into_iter();
    fields.filter_map(|name| error.get(name)?.as_str()).find(|word| of_word(word).is_some())
}

fn of_word(word: &str) -> Option<u16> {
    STATUSES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, status)| *status)
}

#[cfg(test)]
mod tests;
