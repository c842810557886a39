//! The words spoken with `lepo`: one JSON request a line on stdin, NDJSON events on stdout.
//! Lines and plain text rather than a library, so that a crash or a kill here costs only an answer.
//!
//! Request (`temperature`, `max_tokens` and `margin` may be left out):
//! `{"messages":[{"role":"user","content":"…"}],"temperature":0.1,"max_tokens":1024,"margin":false}`
//!
//! Events, each flushed; every request is answered by exactly one `done` or `error`, which comes last:
//!
//! | event | fields | means |
//! |---|---|---|
//! | `notice` | `text` | said to the person, such as that older messages were left out |
//! | `text` | `text` | the next piece of the answer, whole characters |
//! | `usage` | `input`, `output`, `margin` | tokens read and written; where `margin` was asked for, the smallest lead of a first choice over the second, as a difference of natural logarithms |
//! | `done` | `reason`: `stop` or `length` | the answer is whole, or was cut at `max_tokens` |
//! | `error` | `message`, `too_long` | no answer, as the last message is `too_long` or for another reason; the next request is read all the same, or the exit code is 3 |
//!
//! Spaces before an event are signs of life while a long prompt is read; see [`sign_of_life`].

use std::io::{self, Write};
use std::process::exit;

use lepo_base::error::{Error, Kind, Result};
use serde::{Deserialize, Serialize};

/// The exit code where the program cannot go on; the same as lepo's own for a model that failed.
const FAILED: i32 = 3;

/// One question: everything said so far, the last message being the one to answer.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// Oldest first; at least one.
    pub messages: Vec<Message>,
    /// 0 always takes the likeliest token.
    #[serde(default = "default_temperature")]
    pub temperature: f64,
    /// The most tokens to answer with; at least 1, kept inside the model's context.
    #[serde(default = "default_max_tokens")]
    pub max_tokens: usize,
    /// Whether the smallest lead of a first choice is measured: an answer with a small one differs between processors.
    #[serde(default)]
    pub margin: bool,
}

/// One message of a conversation.
#[derive(Debug, Clone, Deserialize)]
pub struct Message {
    /// Role of the message.
    pub role: Role,
    /// Text of the message. Nothing in it is read as a mark of the model's own format.
    pub content: String,
}

/// Role of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// An event on stdout.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event<'a> {
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
        reason: Reason,
    },
    Error {
        message: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        too_long: bool,
    },
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    Stop,
    Length,
}

fn default_temperature() -> f64 {
    0.1
}

fn default_max_tokens() -> usize {
    1024
}

/// Reads one request line. Fails with [`Kind::Usage`], saying what is wrong with it.
pub fn parse(line: &[u8]) -> Result<Request> {
    let bad = |why: String| Error::new(Kind::Usage, format!("bad request: {why}"));
    let request: Request = serde_json::from_slice(line).map_err(|e| bad(e.to_string()))?;
    if request.messages.is_empty() {
        return Err(bad("messages is empty".into()));
    }
    if request.max_tokens == 0 {
        return Err(bad("max_tokens is 0".into()));
    }
    Ok(request)
}

/// Writes one event and flushes it.
pub fn emit(event: &Event) {
    let mut line = serde_json::to_vec(event).unwrap_or_default();
    line.push(b'\n');
    write(&line);
}

/// Tells that the work goes on: a space, which JSON allows before the next event. Reading a long prompt takes
/// a minute or more, too long for a reader to wait in silence, or to work on after the reader has gone.
pub fn sign_of_life() {
    write(b" ");
}

/// If the reader is gone, the program ends here, quietly.
fn write(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit(0),
        Err(_) => exit(FAILED),
    }
}

/// Says why the program cannot go on, and ends it.
pub fn fail(message: &str) -> ! {
    emit(&Event::Error { message, too_long: false });
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
            (Event::Text { text: "a\n\u{0}" }, r#"{"event":"text","text":"a\n\u0000"}"#),
            (
                Event::Usage { input: 12, output: 34, margin: None },
                r#"{"event":"usage","input":12,"output":34}"#,
            ),
            (
                Event::Usage { input: 1, output: 2, margin: Some(0.5) },
                r#"{"event":"usage","input":1,"output":2,"margin":0.5}"#,
            ),
            (Event::Done { reason: Reason::Length }, r#"{"event":"done","reason":"length"}"#),
            (Event::Error { message: "no", too_long: false }, r#"{"event":"error","message":"no"}"#),
            (
                Event::Error { message: "no", too_long: true },
                r#"{"event":"error","message":"no","too_long":true}"#,
            ),
            (Event::Notice { text: "cut" }, r#"{"event":"notice","text":"cut"}"#),
        ];
        for (event, json) in cases {
            assert_eq!(serde_json::to_string(&event).unwrap(), json);
        }
    }
}
