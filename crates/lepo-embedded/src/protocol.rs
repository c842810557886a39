//! The protocol with `lepo`: one JSON request a line on stdin, NDJSON events on stdout. A process and plain text
//! instead of a library, so that a crash or a kill costs only an answer.
//!
//! Request (`temperature`, `max_tokens` and `margin` are optional):
//! `{"messages":[{"role":"user","content":"…"}],"temperature":0.1,"max_tokens":1024,"margin":false}`
//!
//! Events, each flushed; every request ends with exactly one `done` or `error`:
//!
//! | event | fields | meaning |
//! |---|---|---|
//! | `notice` | `text` | a note to the user, for example that older messages were omitted |
//! | `text` | `text` | the next piece of the answer, whole characters |
//! | `usage` | `input`, `output`, `margin` | tokens read and written; if the request sets `margin`, the smallest lead of a first choice over the second, as a difference of natural logarithms |
//! | `done` | `reason`: `stop` or `length` | the answer is complete, or was cut at `max_tokens` |
//! | `error` | `message`, `too_long` | no answer, because the last message is `too_long` or for another reason; then the next request is read, or the program exits with code 3 |
//!
//! Spaces before an event are signs of life while a long prompt is read; see [`sign_of_life`].

use std::io::{self, Write};
use std::process::exit;

use lepo_base::error::{Error, ExitKind, Result};
use serde::{Deserialize, Serialize};

/// The exit code after a fatal error, equal to lepo's own for a model that failed.
const FAILED: i32 = 3;

/// A request: the conversation, whose last message is to be answered.
#[derive(Debug, Deserialize)]
pub struct GenerateRequest {
    /// Oldest first; at least one.
    pub messages: Vec<InputMessage>,
    /// 0 always chooses the likeliest token.
    #[serde(default = "default_temperature")]
    pub temperature: f64,
    /// Maximum number of tokens of the answer; at least 1, and limited by the model's context.
    #[serde(default = "default_max_tokens")]
    pub max_tokens: usize,
    /// Whether to measure the smallest lead of a first choice: an answer with a small lead differs between processors.
    #[serde(default)]
    pub margin: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct InputMessage {
    pub role: InputRole,
    /// No part of it is interpreted as a mark of the model's format.
    pub content: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputRole {
    System,
    User,
    Assistant,
    Tool,
}

/// An event on stdout.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum OutputEvent<'a> {
    Notice {
        text: &'a str,
    },
    Text {
        text: &'a str,
    },
    Usage {
        input: usize,
        output: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        margin: Option<f32>,
    },
    Done {
        reason: DoneReason,
    },
    Error {
        message: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        too_long: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DoneReason {
    Stop,
    Length,
}

fn default_temperature() -> f64 {
    0.1
}

fn default_max_tokens() -> usize {
    1024
}

/// Parses a request. A malformed one is an error of [`ExitKind::Usage`] that names the fault.
pub fn parse(line: &[u8]) -> Result<GenerateRequest> {
    let bad = |why: String| Error::new(ExitKind::Usage, format!("bad request: {why}"));
    let request: GenerateRequest = serde_json::from_slice(line).map_err(|e| bad(e.to_string()))?;
    if request.messages.is_empty() {
        return Err(bad("messages is empty".into()));
    }
    if request.max_tokens == 0 {
        return Err(bad("max_tokens is 0".into()));
    }
    Ok(request)
}

pub fn emit(event: &OutputEvent) {
    let mut line = serde_json::to_vec(event).unwrap_or_default();
    line.push(b'\n');
    write(&line);
}

/// Writes a space, which JSON allows before the next event, as a sign of life. Reading a long prompt needs a minute or
/// more: too long for the reader to wait in silence, and for this program to work on after the reader has gone.
pub fn sign_of_life() {
    write(b" ");
}

/// If the reader has gone, the program exits silently.
fn write(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit(0),
        Err(_) => exit(FAILED),
    }
}

/// Reports a fatal error and exits.
pub fn fail(message: &str) -> ! {
    emit(&OutputEvent::Error { message, too_long: false });
    exit(FAILED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let cases = [
            (r#"{"messages":[{"role":"user","content":"hi"}]}"#, None),
            (r#"{"messages":[{"role":"tool","content":""}],"temperature":0,"max_tokens":1}"#, None),
            (r#"{"messages":[]}"#, Some("messages is empty")),
            (r#"{"messages":[{"role":"user","content":"hi"}],"max_tokens":0}"#, Some("max_tokens is 0")),
            (r#"{"messages":[{"role":"robot","content":"hi"}]}"#, Some("unknown variant `robot`")),
            (r#"{"messages":"hi"}"#, Some("invalid type")),
            ("hello", Some("expected value")),
            ("{", Some("EOF")),
        ];
        for (line, wrong) in cases {
            match (parse(line.as_bytes()), wrong) {
                (Ok(_), None) => {}
                (Err(error), Some(why)) => assert!(error.message.contains(why), "{line}: {error}"),
                (got, _) => panic!("{line}: {got:?}"),
            }
        }
        assert!(parse(b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}").is_err());
    }

    #[test]
    fn events() {
        let cases = [
            (OutputEvent::Text { text: "a\n\u{0}" }, r#"{"event":"text","text":"a\n\u0000"}"#),
            (
                OutputEvent::Usage { input: 12, output: 34, margin: None },
                r#"{"event":"usage","input":12,"output":34}"#,
            ),
            (
                OutputEvent::Usage { input: 1, output: 2, margin: Some(0.5) },
                r#"{"event":"usage","input":1,"output":2,"margin":0.5}"#,
            ),
            (OutputEvent::Done { reason: DoneReason::Length }, r#"{"event":"done","reason":"length"}"#),
            (OutputEvent::Error { message: "no", too_long: false }, r#"{"event":"error","message":"no"}"#),
            (
                OutputEvent::Error { message: "no", too_long: true },
                r#"{"event":"error","message":"no","too_long":true}"#,
            ),
            (OutputEvent::Notice { text: "cut" }, r#"{"event":"notice","text":"cut"}"#),
        ];
        for (event, json) in cases {
            assert_eq!(serde_json::to_string(&event).unwrap(), json);
        }
    }
}
