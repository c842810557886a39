//! Ollama's chat API: JSON lines. Tool schemas never go into its `tools`: they stand in the prompt.
//! <https://github.com/ollama/ollama/blob/main/docs/api.md>

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::body::cut_off;
use super::error_text::{excerpt, is_half, words};
use super::event::{Event, Events, Finish, Usage};
use super::frames::Lines;
use super::message::{self, Message, Request, ToolCall};
use super::quirks::{Quirk, Quirks};
use crate::error::{Error, Result};

/// Where the requests go, under `base_url`.
pub(super) const PATH: &[&str] = &["api", "chat"];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Said<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Value>,
}

#[derive(Serialize)]
struct Said<'a> {
    role: &'static str,
    content: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
}

/// The JSON of a request to `model`, without what it does not take.
pub(super) fn body(model: &str, request: Request<'_>, quirks: &Quirks) -> Vec<u8> {
    let body = Body {
        model,
        messages: request.messages.iter().map(said).collect(),
        stream: true,
        format: request.schema.map(|schema| &schema.schema),
        options: (!quirks.contains(&Quirk::Temperature)).then(|| json!({"temperature": super::TEMPERATURE})),
    };
    super::json_bytes(&body)
}

fn said(message: &Message) -> Said<'_> {
    let called = |call: &ToolCall| json!({"function": {"name": call.name, "arguments": call.arguments}});
    Said {
        role: message.role.word(),
        content: &message.text,
        tool_calls: message.calls.iter().map(called).collect(),
    }
}

#[derive(Deserialize)]
struct Line {
    message: Option<Part>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Part {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<Called>>,
}

#[derive(Deserialize)]
struct Called {
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// Reads an answer, whatever pieces its bytes come in.
#[derive(Default)]
pub(super) struct Reader {
    lines: Lines,
    state: State,
}

#[derive(Default)]
struct State {
    calls: usize,
    begun: bool,
    done: bool,
}

impl Reader {
    /// Takes the next bytes.
    pub fn read(&mut self, bytes: &[u8], events: &mut Events) -> Result<()> {
        let Reader { lines, state } = self;
        lines.feed(bytes, |line| state.line(line, events))
    }

    /// The bytes have ended.
    pub fn end(&mut self, events: &mut Events) -> Result<()> {
        let Reader { lines, state } = self;
        let mut half = false;
        lines.end(|line| {
            half = is_half(line);
            if half { Ok(()) } else { state.line(line, events) }
        })?;
        match state {
            State { done: true, .. } => Ok(()),
            State { begun: false, .. } if !half => Err(Error::remote("the answer was empty")),
            _ => Err(cut_off("the stream ended without `done`")),
        }
    }
}

impl State {
    fn line(&mut self, line: &[u8], events: &mut Events) -> Result<()> {
        if self.done || line.trim_ascii().is_empty() {
            return Ok(());
        }
        let line: Line = serde_json::from_slice(line)
            .map_err(|_| Error::remote(format!("the answer is no JSON: {}", excerpt(line))))?;
        if let Some(error) = line.error {
            let words = words(&error).unwrap_or_else(|| excerpt(error.to_string().as_bytes()));
            return Err(
                Error::remote(format!("the model failed: {words}")).hint("ask again: `lepo do --retry`")
            );
        }
        self.begun = true;
        let said = |text: Option<String>| text.filter(|text| !text.is_empty());
        events.extend(said(line.thinking).map(Event::Thinking));
        if let Some(part) = line.message {
            events.extend(said(part.thinking).map(Event::Thinking));
            events.extend(said(part.content).map(Event::Text));
            for call in part.tool_calls.unwrap_or_default() {
                events.push_back(Event::ToolCall(self.call(call)));
            }
        }
        if line.done {
            self.done = true;
            let usage = Usage { input: line.prompt_eval_count, output: line.eval_count };
            if usage != Usage::default() {
                events.push_back(Event::Usage(usage));
            }
            events.push_back(Event::Done(Finish::from_word(line.done_reason.as_deref().unwrap_or("stop"))));
        }
        Ok(())
    }

    fn call(&mut self, call: Called) -> ToolCall {
        self.calls += 1;
        let arguments = match call.function.arguments {
            Value::Null => json!({}),
            Value::String(text) => message::arguments(&text),
            value => value,
        };
        let id = call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{}", self.calls));
        ToolCall { id, name: call.function.name, arguments }
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{Role, Schema, ToolSpec};
    use super::*;

    #[test]
    fn tools_never_go_into_the_request() {
        let schema = Schema { name: "n".into(), schema: json!({"type": "object"}) };
        let tool = ToolSpec { name: "t".into(), description: String::new(), schema: json!({}) };
        let messages = [Message::new(Role::User, "hi")];
        let request = Request { messages: &messages, schema: Some(&schema), tools: &[tool] };
        let sent: Value = serde_json::from_slice(&body("m", request, &Quirks::new())).unwrap();
        assert_eq!(
            sent,
            json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": true,
                   "format": {"type": "object"}, "options": {"temperature": 0.1}})
        );
    }
}
