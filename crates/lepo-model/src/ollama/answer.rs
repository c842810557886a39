//! Parses an answer of Ollama's chat API: a JSON object per line.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer_reader::{AnswerReader, StreamRefusal};
use crate::call_pieces::CallPieces;
use crate::error_text::{is_truncated, message_or_excerpt};
use crate::event::{ChatEvent, EventQueue, FinishReason, TextKind, Usage, tokens};
use crate::failure::{failure_in, failure_message};
use crate::loose_fields::{FlexibleText, IfObject};
use crate::message::{ToolCall, ToolSpec};
use crate::replay::{ProviderMessage, ReplayBudget};
use crate::stream::cut_off;
use crate::tool_names::ToolNames;
use crate::well_formed::values_in;
use lepo_base::error::{Error, Result};
use lepo_net::client::{LIMIT, LineSplitter};

/// A line. A field of unknown form is treated as missing.
#[derive(Deserialize)]
struct OllamaLine<'a> {
    #[serde(default, borrow)]
    message: IfObject<OllamaMessage<'a>>,
    /// The text of an answer to a plain prompt, without a chat.
    #[serde(default, borrow)]
    response: FlexibleText<'a>,
    #[serde(default, borrow)]
    thinking: FlexibleText<'a>,
    done: Option<Value>,
    done_reason: Option<Value>,
    prompt_eval_count: Option<Value>,
    eval_count: Option<Value>,
}

#[derive(Deserialize)]
struct OllamaMessage<'a> {
    #[serde(default, borrow)]
    content: FlexibleText<'a>,
    #[serde(default, borrow)]
    thinking: FlexibleText<'a>,
    #[serde(default, borrow)]
    reasoning: FlexibleText<'a>,
    tool_calls: Option<Value>,
}

/// Reads an answer, however its bytes are split.
#[derive(Default)]
pub struct OllamaReader {
    lines: LineSplitter,
    state: OllamaDecoder,
}

#[derive(Default)]
struct OllamaDecoder {
    /// The message as received, to be sent back if it has calls.
    content: String,
    thinking: String,
    replay_budget: ReplayBudget,
    calls: CallPieces,
    refused: Option<StreamRefusal>,
    /// The start of a document that spans several lines.
    partial_document: Vec<u8>,
    /// The first line that is not part of an answer.
    stray: Option<String>,
    /// The name of the finish reason.
    finish: Option<String>,
    usage: Usage,
    has_begun: bool,
    is_done: bool,
}

impl OllamaReader {
    pub(super) fn new(tools: &[ToolSpec]) -> OllamaReader {
        let calls = CallPieces::new(ToolNames::new(tools));
        OllamaReader {
            lines: LineSplitter::default(),
            state: OllamaDecoder { calls, ..OllamaDecoder::default() },
        }
    }
}

impl AnswerReader for OllamaReader {
    fn read(&mut self, bytes: &[u8], events: &mut EventQueue) -> Result<()> {
        let OllamaReader { lines, state } = self;
        lines.feed(bytes, |line| state.line(line, events))
    }

    fn finish(&mut self, events: &mut EventQueue) -> Result<()> {
        let OllamaReader { lines, state } = self;
        let mut half = false;
        lines.finish(|line| {
            half = is_truncated(line) && state.partial_document.is_empty();
            if half { Ok(()) } else { state.line(line, events) }
        })?;
        half |= !state.partial_document.is_empty();
        if !state.is_done && state.finish.is_some() {
            state.finish(events)?;
        }
        match state {
            OllamaDecoder { is_done: true, .. } => Ok(()),
            OllamaDecoder { has_begun: false, stray: Some(words), .. } => {
                Err(Error::remote(format!("the answer is not valid JSON: {words}")))
            }
            OllamaDecoder { has_begun: false, .. } if !half => Err(Error::remote("the answer was empty")),
            _ => Err(cut_off("the stream ended without `done`")),
        }
    }

    fn is_finishing(&self) -> bool {
        self.state.finish.is_some() && !self.state.content.is_empty()
    }

    fn is_done(&self) -> bool {
        self.state.is_done
    }

    fn refusal(&self) -> Option<StreamRefusal> {
        self.state.refused.clone()
    }
}

impl OllamaDecoder {
    fn line(&mut self, line: &[u8], events: &mut EventQueue) -> Result<()> {
        if self.is_done || line.trim_ascii().is_empty() {
            return Ok(());
        }
        if self.partial_document.is_empty() && self.object(line, events)? {
            return Ok(());
        }
        let whole;
        let line = match self.partial_document.is_empty() {
            true => line,
            false => {
                whole = [std::mem::take(&mut self.partial_document).as_slice(), b"\n", line].concat();
                &whole
            }
        };
        let is_mark = matches!(line.trim_ascii(), b"[DONE]" | b"data: [DONE]");
        if is_mark && self.has_begun {
            return self.finish(events);
        }
        let values = values_in(line);
        if values.is_empty() && line.trim_ascii_start().starts_with(b"{") && line.len() <= LIMIT {
            // Possibly the start of a document that spans several lines.
            self.partial_document = line.to_vec();
            return Ok(());
        }
        for value in &values {
            if !self.object(value.to_string().as_bytes(), events)? {
                let is_told = value.get("message").or(value.get("detail")).is_some();
                self.fails(value, is_told && !self.has_begun)?;
            }
        }
        if values.is_empty() && !is_mark {
            self.stray.get_or_insert_with(|| message_or_excerpt(line));
        }
        Ok(())
    }

    /// Parses a line with a single object; returns false if it contains no part of an answer.
    fn object(&mut self, bytes: &[u8], events: &mut EventQueue) -> Result<bool> {
        let Ok(line) = serde_json::from_slice::<OllamaLine<'_>>(bytes) else { return Ok(false) };
        let part = line.message.0;
        let has_part = part.is_some();
        let [text, thought, reasoning] = match &part {
            Some(part) => [&*part.content.0, &*part.thinking.0, &*part.reasoning.0],
            None => [&*line.response.0, "", ""],
        };
        let thought = if thought.is_empty() { reasoning } else { thought };
        for thinking in [&*line.thinking.0, thought] {
            self.thinking.push_str(thinking);
            TextKind::Thinking.push_event(thinking, events);
        }
        self.content.push_str(text);
        TextKind::Text.push_event(text, events);
        let mut is_used = !text.is_empty() || !thought.is_empty() || !line.thinking.0.is_empty();
        if let Some(calls) = part.as_ref().and_then(|part| part.tool_calls.as_ref())
            && self.calls.add(calls)?
        {
            self.replay_budget.count(bytes)?;
            is_used = true;
        }
        let is_done = line.done.as_ref().is_some_and(|done| done == true || done == "true" || done == 1);
        if !is_used && self.finish.is_none() {
            let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
            self.fails(&value, false)?;
        }
        if let Some(word) = line.done_reason.as_ref().and_then(FinishReason::word_in) {
            self.finish = Some(word);
        }
        if is_done {
            let count = |field: Option<Value>| field.as_ref().and_then(tokens);
            let (input, output) = (count(line.prompt_eval_count), count(line.eval_count));
            self.usage = Usage { input, output, ..Usage::default() };
            self.has_begun = true;
            self.finish(events)?;
            return Ok(true);
        }
        self.has_begun |= is_used || has_part;
        Ok(is_used || has_part)
    }

    fn fails(&mut self, value: &Value, is_named: bool) -> Result<()> {
        let Some(error) = failure_in(value, is_named) else { return Ok(()) };
        let words = failure_message(&error);
        // After a successful status, such an error replaces a refusal.
        let body = error.to_string();
        let refused =
            StreamRefusal::new(&error).unwrap_or(StreamRefusal { status: 400, message: words.clone(), body });
        self.refused = Some(refused);
        Err(Error::remote(format!("the model failed: {words}")).ask_again())
    }

    /// Ends the answer: emits the calls, after the message that contains them as received.
    fn finish(&mut self, events: &mut EventQueue) -> Result<()> {
        let word = self.finish.take().unwrap_or_else(|| "stop".to_owned());
        if FinishReason::is_failure(&word) {
            let words = format!("its answer ended with {word}");
            self.refused = Some(StreamRefusal { status: 502, message: words.clone(), body: String::new() });
            return Err(Error::remote(format!("the model failed: {words}")).ask_again());
        }
        self.is_done = true;
        let calls = self.calls.take_whole();
        if !calls.is_empty() {
            let mut message = json!({"role": "assistant", "content": self.content});
            if !self.thinking.is_empty() {
                message["thinking"] = std::mem::take(&mut self.thinking).into();
            }
            let calls: Vec<(Value, ToolCall)> =
                calls.into_iter().map(|whole| (whole.received, whole.call)).collect();
            // In this API, arguments are an object.
            let received = calls.iter().map(|(received, call)| {
                let mut received = received.clone();
                let is_object = call.arguments.is_object();
                received["function"]["arguments"] =
                    if is_object { call.arguments.clone() } else { json!({}) };
                received
            });
            message["tool_calls"] = received.collect();
            events.push_back(ChatEvent::Replay(ProviderMessage::new(message)));
            events.extend(calls.into_iter().map(|(_, call)| ChatEvent::ToolCall(call)));
        }
        if self.usage != Usage::default() {
            events.push_back(ChatEvent::Usage(self.usage));
        }
        events.push_back(ChatEvent::Done(FinishReason::from_word(&word)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_without_end_are_ended() {
        let call = json!({"function": {"name": "t", "arguments": {"text": "x".repeat(8 << 20)}}});
        let line = json!({"message": {"tool_calls": [call]}, "done": false}).to_string() + "\n";
        let (mut reader, mut events) = (OllamaReader::default(), EventQueue::default());
        let ended = (0..100).find_map(|i| reader.read(line.as_bytes(), &mut events).err().map(|e| (i, e)));
        let (lines, error) = ended.unwrap();
        assert_eq!((lines, error.kind.exit_code()), (1, 3), "{}", error.message);
    }
}
