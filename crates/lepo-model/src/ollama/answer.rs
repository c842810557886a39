//! Reads an answer of Ollama's chat API: one JSON object a line.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error_text::{excerpt, is_half, told, words};
use crate::event::{Event, Events, Finish, Usage, tokens};
use crate::kept::Kept;
use crate::message::{self, ToolCall};
use crate::reader::{AnswerReader, Refused};
use crate::replay::Replay;
use crate::stream::cut_off;
use crate::well_formed::read_well_formed;
use lepo_base::error::{Error, Result};
use lepo_net::net::Lines;

#[derive(Deserialize)]
struct AnswerLine {
    message: Option<Part>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<Value>,
    eval_count: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize, Default)]
struct Part {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<Value>>,
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
    state: LineDecoder,
}

#[derive(Default)]
struct LineDecoder {
    /// The message as received, to be sent back if it has calls.
    content: String,
    thinking: String,
    called: Vec<Value>,
    kept: Kept,
    calls: Vec<ToolCall>,
    refused: Option<Refused>,
    begun: bool,
    done: bool,
}

impl AnswerReader for Reader {
    fn read(&mut self, bytes: &[u8], events: &mut Events) -> Result<()> {
        let Reader { lines, state } = self;
        lines.feed(bytes, |line| read_well_formed(line, |line| state.line(line, events)))
    }

    fn end(&mut self, events: &mut Events) -> Result<()> {
        let Reader { lines, state } = self;
        let mut half = false;
        lines.end(|line| {
            half = is_half(line);
            if half { Ok(()) } else { state.line(line, events) }
        })?;
        match state {
            LineDecoder { done: true, .. } => Ok(()),
            LineDecoder { begun: false, .. } if !half => Err(Error::remote("the answer was empty")),
            _ => Err(cut_off("the stream ended without `done`")),
        }
    }

    fn refused(&self) -> Option<Refused> {
        self.state.refused.clone()
    }
}

impl LineDecoder {
    fn line(&mut self, line: &[u8], events: &mut Events) -> Result<()> {
        if self.done || line.trim_ascii().is_empty() {
            return Ok(());
        }
        let bytes = line;
        let line: AnswerLine = serde_json::from_slice(bytes)
            .map_err(|_| Error::remote(format!("the answer is not valid JSON: {}", told(bytes))))?;
        if let Some(error) = line.error {
            let words = words(&error).unwrap_or_else(|| excerpt(error.to_string().as_bytes()));
            // It is told after a status of success what would have been a refusal.
            self.refused = Refused::new(400, &words);
            return Err(Error::remote(format!("the model failed: {words}")).ask_again());
        }
        self.begun = true;
        let said = |text: Option<String>| text.filter(|text| !text.is_empty());
        let part = line.message.unwrap_or_default();
        for thinking in said(line.thinking).into_iter().chain(said(part.thinking)) {
            self.thinking.push_str(&thinking);
            events.push_back(Event::Thinking(thinking));
        }
        if let Some(text) = said(part.content) {
            self.content.push_str(&text);
            events.push_back(Event::Text(text));
        }
        if let Some(calls) = part.tool_calls {
            self.kept.count(bytes)?;
            calls.into_iter().for_each(|call| self.call(call));
        }
        if line.done {
            self.done = true;
            self.hand_on_calls(events);
            let count = |told: Option<Value>| told.as_ref().and_then(tokens);
            let (input, output) = (count(line.prompt_eval_count), count(line.eval_count));
            let usage = Usage { input, output, ..Usage::default() };
            if usage != Usage::default() {
                events.push_back(Event::Usage(usage));
            }
            events.push_back(Event::Done(Finish::from_word(line.done_reason.as_deref().unwrap_or("stop"))));
        }
        Ok(())
    }

    fn call(&mut self, received: Value) {
        let Ok(call) = Called::deserialize(&received) else { return };
        let arguments = match call.function.arguments {
            Value::Null => json!({}),
            Value::String(text) => message::arguments(&text),
            value => value,
        };
        let made = || format!("call_{}", self.calls.len() + 1);
        let id = call.id.filter(|id| !id.is_empty()).unwrap_or_else(made);
        self.called.push(received);
        self.calls.push(ToolCall { id, name: call.function.name, arguments });
    }

    /// The calls, and before them the message they are in as it was received.
    fn hand_on_calls(&mut self, events: &mut Events) {
        if self.calls.is_empty() {
            return;
        }
        let mut message = json!({"role": "assistant", "content": self.content});
        if !self.thinking.is_empty() {
            message["thinking"] = std::mem::take(&mut self.thinking).into();
        }
        message["tool_calls"] = std::mem::take(&mut self.called).into();
        events.push_back(Event::Replay(Replay::new(message)));
        events.extend(self.calls.drain(..).map(Event::ToolCall));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_without_end_are_ended() {
        let call = json!({"function": {"name": "t", "arguments": {"text": "x".repeat(8 << 20)}}});
        let line = json!({"message": {"tool_calls": [call]}, "done": false}).to_string() + "\n";
        let (mut reader, mut events) = (Reader::default(), Events::default());
        let ended = (0..100).find_map(|i| reader.read(line.as_bytes(), &mut events).err().map(|e| (i, e)));
        let (lines, error) = ended.unwrap();
        assert_eq!((lines, error.kind.exit_code()), (7, 3), "{}", error.message);
    }
}
