//! Reads an answer of Ollama's chat API: one JSON object a line.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::model::answer::AnswerReader;
use crate::model::body::cut_off;
use crate::model::error_text::{excerpt, is_half, words};
use crate::model::event::{Event, Events, Finish, Usage};
use crate::model::message::{self, ToolCall};
use crate::model::ndjson::Lines;

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
pub struct Reader {
    lines: Lines,
    state: State,
}

#[derive(Default)]
struct State {
    calls: usize,
    begun: bool,
    done: bool,
}

impl AnswerReader for Reader {
    fn read(&mut self, bytes: &[u8], events: &mut Events) -> Result<()> {
        let Reader { lines, state } = self;
        lines.feed(bytes, |line| state.line(line, events))
    }

    fn end(&mut self, events: &mut Events) -> Result<()> {
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
