//! An HTTP refusal: its meaning, and what the user can do about it.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::{Response, StatusCode};

use super::answer_reader::StreamRefusal;
use super::echoed_input::without_echo;
use super::error_text::{excerpt, message_or_excerpt};
use super::notice::TransientFailure;
use super::provider_spec::HttpSpec;
use super::refusals::{Meaning, meaning};
use super::retry::{is_pause, wait_in_body};
use super::unpack::Unpacking;
use crate::ModelConfig;
use lepo_base::error::{Error, ExitKind};
use lepo_base::hint::{Hint, HintCommand, ResumeAction};

/// The size limit of a refusal, in bytes.
const ENOUGH: usize = 64 << 10;

/// Headers with the time after a limit per period, for a refusal without `Retry-After`.
const RESETS: &[&str] = &["x-ratelimit-reset-after", "ratelimit-reset", "x-ratelimit-reset"];

pub(super) struct HttpRefusal {
    pub status: u16,
    pub body: String,
    /// The time to wait: the header `Retry-After` or `retry-after-ms`, or a value from the body.
    pub retry_after: Option<String>,
    /// The header `x-should-retry`.
    should_retry: Option<bool>,
    message: String,
    /// Whether the refusal arrived within a stream, after a success status.
    within: bool,
}

impl HttpRefusal {
    /// Reads a response for at most `limit`: a refusal without a text is still one.
    pub async fn read(mut response: Response, limit: Duration) -> Self {
        let status = response.status();
        let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let milliseconds = header("retry-after-ms").and_then(|ms| ms.trim().parse::<f64>().ok());
        let retry_after = match milliseconds {
            Some(ms) => Some((ms / 1000.0).to_string()),
            None => header("retry-after"),
        };
        // A longer time may belong to another limit, such as a daily one.
        let reset = RESETS.iter().find_map(|name| header(name));
        let reset = reset.filter(|time| status.as_u16() == 429 && is_pause(time, Timestamp::now()));
        let should_retry = header("x-should-retry").and_then(|yes| yes.trim().parse().ok());
        let mut body = Vec::new();
        let mut unpacking = Unpacking::default();
        let reading = async {
            while let Ok(Some(chunk)) = response.chunk().await {
                let Ok(chunk) = unpacking.feed(chunk) else { break };
                body.extend_from_slice(&chunk);
                if body.len() >= ENOUGH {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(limit, reading).await;
        let words = message_or_excerpt(&body);
        let body = without_echo(unescaped(String::from_utf8_lossy(&body).into_owned()));
        HttpRefusal {
            status: status.as_u16(),
            retry_after: retry_after.or_else(|| wait_in_body(&body)).or(reset),
            body,
            should_retry,
            message: titled(status, words),
            within: false,
        }
    }

    /// Converts a refusal within a stream, after a success status.
    pub fn from_stream(refused: StreamRefusal) -> Self {
        HttpRefusal {
            status: refused.status,
            message: refused.message,
            retry_after: wait_in_body(&refused.body),
            body: without_echo(refused.body),
            should_retry: None,
            within: true,
        }
    }

    pub fn passing(&self) -> TransientFailure {
        match self.within {
            false => TransientFailure::Status(self.status),
            true => TransientFailure::Message(self.message.clone()),
        }
    }

    /// Returns status and message of the server.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn meaning(&self, model: &str) -> Meaning {
        meaning(self.status, &self.body, model)
    }

    pub fn may_pass(&self, model: &str) -> bool {
        let is_passing = self.meaning(model) == Meaning::Wait;
        self.should_retry.map_or(is_passing, |yes| yes && (is_passing || !self.is_for_good(model)))
    }

    /// Whether the server will never accept the request, whatever a header says.
    fn is_for_good(&self, model: &str) -> bool {
        matches!(
            self.meaning(model),
            Meaning::UsedUp | Meaning::OverMinute | Meaning::Overflow | Meaning::Key | Meaning::Forbidden
        )
    }

    /// Returns an excerpt of the model's output that its server could not parse.
    pub fn rejected_output(&self) -> Option<String> {
        let behind = |mark: &str| self.body.split_once(mark).map(|(_, behind)| behind);
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_default();
        let generation = ["/error/failed_generation", "/failed_generation"].iter();
        let field = generation.filter_map(|pointer| body.pointer(pointer)?.as_str()).next();
        let text = field.or_else(|| behind("raw='")?.split_once("', err=").map(|(raw, _)| raw))?;
        Some(excerpt(text.as_bytes())).filter(|text| !text.is_empty())
    }

    /// Returns the error for a refusal, with the server's URL: one sentence and one hint for each meaning.
    pub fn error(&self, config: &ModelConfig, spec: &HttpSpec, url: &str) -> Error {
        let (words, model) = (&self.message, &config.model);
        let other_model = |before: &str| Hint::from(before).command(HintCommand::OtherModel);
        let refused = || Error::remote(format!("{url} refused the request: {words}"));
        match self.meaning(model) {
            Meaning::UsedUp => {
                Error::remote(format!("the credit or spending limit at {url} is used up: {words}"))
                    .hint(other_model("add credit or raise the limit there, or ask another model: "))
            }
            Meaning::Overflow => {
                let message = format!("the conversation is too long for {}: {words}", config.name);
                Error::new(ExitKind::Overflow, message).hint(
                    Hint::from(ResumeAction::Compact)
                        .text(" continues from a summary of it; a model with a larger window accepts it unchanged: ")
                        .command(HintCommand::OtherModel),
                )
            }
            Meaning::OverMinute => {
                let text = format!("this request alone is over a limit per minute at {url}: {words}");
                Error::remote(text).hint(
                    Hint::from("send less, or continue from a summary: ")
                        .command(ResumeAction::Compact)
                        .text("; waiting does not help"),
                )
            }
            Meaning::Slip => {
                let tried =
                    self.rejected_output().map(|tried| format!("; it tried {tried}")).unwrap_or_default();
                Error::remote(format!(
                    "{} wrote a call that its server cannot read: {words}{tried}",
                    config.name
                ))
                .ask_again()
            }
            Meaning::Key => refused_key(url, words).hint(key_hint(config)),
            Meaning::Forbidden => refused().hint(other_model(
                "the reason is the location, the account or the text, and not the key; another model: ",
            )),
            Meaning::Model => {
                Error::remote(format!("no model \"{model}\" at {url}: {words}")).hint((spec.missing)(model))
            }
            Meaning::Wire => {
                let hint = match spec.name {
                    "openai" => "it answers in another API: `wire = \"responses\"` in config.toml".into(),
                    "responses" => "it answers in another API: `wire = \"chat\"` in config.toml".into(),
                    _ => other_model("it answers in another API; another model: "),
                };
                Error::remote(format!("{model} does not answer in this API of {url}: {words}")).hint(hint)
            }
            Meaning::Limit => Error::remote(format!("{url} refused the limit of the answer: {words}"))
                .hint("a smaller `max_tokens` in the model's `options`, or --max-tokens, is accepted"),
            Meaning::ManyTools => Error::remote(format!("{url} takes fewer tools: {words}"))
                .hint("`includeTools` and `excludeTools` in mcp.json choose the tools of a server"),
            Meaning::Path => {
                let path = spec.path.join("/");
                Error::remote(format!("nothing answers /{path} at {url}: {words}")).hint(format!(
                    "check `base_url`: it usually ends in /v1, and never in /{path}; or `provider` is another"
                ))
            }
            Meaning::Wait if self.status == 429 => {
                Error::remote(format!("{url} received too many requests: {words}")).hint("wait and ask again")
            }
            Meaning::Wait => Error::remote(format!("{url} failed: {words}")).hint("ask again later"),
            Meaning::Proxy => Error::remote(format!("the proxy before {url} refused the request: {words}"))
                .hint("HTTP_PROXY and HTTPS_PROXY name the proxy, with user and password"),
            Meaning::Moved => Error::remote(format!("{url} answered {words}"))
                .hint("check `base_url`: the server has moved"),
            Meaning::Field(_) | Meaning::Request => {
                refused().hint("check `provider`, `model` and `base_url`")
            }
        }
    }
}

/// Writes a JSON body without escaped characters, which would hide the texts of the table: Python escapes all but ASCII,
/// Go escapes `<` and `>`.
fn unescaped(body: String) -> String {
    let json = body.contains(r"\u").then(|| serde_json::from_str::<serde_json::Value>(&body).ok());
    json.flatten().map_or(body, |json| json.to_string())
}

fn titled(status: StatusCode, text: String) -> String {
    let title = match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    };
    if text.is_empty() { title } else { format!("{title}: {text}") }
}

/// Returns the error of a server that rejects the key, or requires one.
pub(super) fn refused_key(url: &str, text: &str) -> Error {
    Error::remote(format!("{url} refused the key: {text}")).of_key()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_behind_escapes() {
        for (body, expected) in [
            (r#"{"error": "\u4f59\u989d\u4e0d\u8db3"}"#, r#"{"error":"余额不足"}"#),
            (r#"{"a":"8192 \u003e 4096"}"#, r#"{"a":"8192 > 4096"}"#),
            (r#"{"a": 1}"#, r#"{"a": 1}"#),
            (r"no JSON \u003e", r"no JSON \u003e"),
        ] {
            assert_eq!(unescaped(body.to_owned()), expected);
        }
    }
}
