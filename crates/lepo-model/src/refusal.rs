//! An HTTP status that is not success, read: what it means, and what a person can do about it.

use std::time::Duration;

use reqwest::{Response, StatusCode};

use super::contract::HttpSpec;
use super::error_text::told;
use super::notice::Passing;
use super::reader::Refused;
use crate::ModelConfig;
use lepo_base::error::Error;
use lepo_base::hint::Hint;

/// The most bytes of a refusal that are read.
const ENOUGH: usize = 64 << 10;

/// A refused request.
pub(super) struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The body, as text.
    pub body: String,
    /// The header `Retry-After` or `retry-after-ms`, in seconds or as a date.
    pub retry_after: Option<String>,
    /// The header `x-should-retry`.
    should_retry: Option<bool>,
    words: String,
    /// It came within a stream, after a status of success.
    within: bool,
}

impl Refusal {
    /// Reads what a response says, for at most `limit`: a refusal without words is still one.
    pub async fn read(mut response: Response, limit: Duration) -> Self {
        let status = response.status();
        let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let milliseconds = header("retry-after-ms").and_then(|ms| ms.trim().parse::<f64>().ok());
        let retry_after = match milliseconds {
            Some(ms) => Some((ms / 1000.0).to_string()),
            None => header("retry-after"),
        };
        let should_retry = header("x-should-retry").and_then(|yes| yes.trim().parse().ok());
        let mut body = Vec::new();
        let reading = async {
            while let Ok(Some(chunk)) = response.chunk().await {
                body.extend_from_slice(&chunk);
                if body.len() >= ENOUGH {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(limit, reading).await;
        let words = told(&body);
        Refusal {
            status: status.as_u16(),
            body: String::from_utf8_lossy(&body).into_owned(),
            retry_after,
            should_retry,
            words: titled(status, words),
            within: false,
        }
    }

    /// One that came within a stream, after a status of success.
    pub fn within(refused: Refused) -> Self {
        Refusal {
            status: refused.status,
            words: refused.words.clone(),
            body: refused.words,
            retry_after: None,
            should_retry: None,
            within: true,
        }
    }

    /// It as a failure that may pass.
    pub fn passing(&self) -> Passing {
        match self.within {
            false => Passing::Status(self.status),
            true => Passing::Words(self.words.clone()),
        }
    }

    /// Status and words of the server.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// True if the server wants a key, or another one.
    pub fn is_of_key(&self) -> bool {
        matches!(self.status, 401 | 403)
    }

    /// True if it may pass by itself.
    pub fn may_pass(&self) -> bool {
        self.should_retry.unwrap_or(self.status == 429 || (500..=599).contains(&self.status))
    }

    /// The error for it, from `place`.
    pub fn error(&self, config: &ModelConfig, spec: &HttpSpec, place: &str) -> Error {
        let words = &self.words;
        match self.status {
            401 | 403 => refused_key(place, words).hint(key_hint(config)),
            404 => Error::remote(format!("no model \"{}\" at {place}: {words}", config.model))
                .hint((spec.missing)(&config.model)),
            429 => Error::remote(format!("{place} received too many requests: {words}"))
                .hint("wait and ask again"),
            300..=399 => Error::remote(format!("{place} answered {words}"))
                .hint("check `base_url`: the server has moved"),
            500..=599 => Error::remote(format!("{place} failed: {words}")).hint("ask again later"),
            _ => Error::remote(format!("{place} refused the request: {words}"))
                .hint("check `provider`, `model` and `base_url`"),
        }
    }
}

fn titled(status: StatusCode, words: String) -> String {
    let title = match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    };
    if words.is_empty() { title } else { format!("{title}: {words}") }
}

/// The error of a server that refused the key, or asked for one.
pub(super) fn refused_key(place: &str, words: &str) -> Error {
    Error::remote(format!("{place} refused the key: {words}")).of_key()
}

fn key_hint(config: &ModelConfig) -> Hint {
    let looked_for = &config.key.looked_for;
    if looked_for.is_empty() {
        return Hint::no_key(&config.name);
    }
    match config.key.value {
        Some(_) => format!("the key was {looked_for}").into(),
        None => format!("looked for {looked_for}, and found none").into(),
    }
}
