//! OpenAI's chat completions: what comes back, a stream of events or one document.

use serde_json::{Map, Value, json};

use super::chunk::{CallPiece, Choice, Chunk, Delta, usage};
use super::merge::merge;
use crate::credit::{PAYMENT_REQUIRED, says_used_up};
use crate::error_text::{excerpt, words};
use crate::event::{Event, Events, Finish, TextKind, Usage};
use crate::kept::Kept;
use crate::message::{self, ToolCall};
use crate::reader::Refused;
use crate::replay::Replay;
use crate::sse_answer::{Decoder, not_understood};
use lepo_base::error::{Error, Result};
use lepo_net::net::LIMIT;

/// The most tool calls in one answer: each takes a look at all others.
const MOST_CALLS: usize = 1000;

/// The answer so far.
#[derive(Default)]
pub struct ChatDecoder {
    calls: Vec<Call>,
    usage: Option<Usage>,
    finish: Option<Finish>,
    /// The message as received, but for its calls; only where it may have to be sent back.
    kept: Option<Map<String, Value>>,
    /// Its fields besides the texts.
    other: Kept,
    refused: Option<Refused>,
    /// The answer is one document, whose message counts, and no stream, whose deltas do.
    whole: bool,
    begun: bool,
    done: bool,
}

impl ChatDecoder {
    /// Reads an answer; `keep` if it is to be sent back should it have calls.
    pub fn new(keep: bool) -> ChatDecoder {
        ChatDecoder { kept: keep.then(Map::new), ..ChatDecoder::default() }
    }
}

/// A call that is still being put together.
struct Call {
    index: Option<usize>,
    id: String,
    name: String,
    arguments: String,
    /// Other fields that came with it, such as a signature.
    extra: Map<String, Value>,
}

impl Decoder for ChatDecoder {
    const END: &'static str = "`finish_reason` or `[DONE]`";
    const FORM: &'static str = FORM;

    fn document(&mut self, data: &[u8], events: &mut Events) -> Result<()> {
        self.whole = true;
        self.data(data, events)?;
        if self.begun {
            // A whole document needs no other end mark.
            self.finish.get_or_insert(Finish::Stop);
        }
        Ok(())
    }

    fn close(&mut self, events: &mut Events) {
        if self.finish.is_some() {
            self.done(events);
        }
    }

    fn has_begun(&self) -> bool {
        self.begun
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn is_finishing(&self) -> bool {
        self.finish.is_some()
    }

    fn refused(&self) -> Option<Refused> {
        self.refused.clone()
    }

    fn data(&mut self, data: &[u8], events: &mut Events) -> Result<()> {
        if data.trim_ascii_end() == b"[DONE]" {
            self.done(events);
            return Ok(());
        }
        let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|_| not_understood(FORM, data))?;
        let error = chunk.error.or(chunk.message.filter(Value::is_string)).filter(|error| !error.is_null());
        if let Some(error) = error {
            let words = words(&error).unwrap_or_else(|| excerpt(error.to_string().as_bytes()));
            let status = match says_used_up(&error) {
                true => Some(PAYMENT_REQUIRED),
                false => error.get("code").or(error.get("status")).and_then(Value::as_u64),
            };
            self.refused = status.and_then(|status| Refused::new(status, &words));
            return Err(Error::remote(format!("the model failed: {words}")).ask_again());
        }
        if let Some(told) = chunk.usage {
            self.begun = true;
            self.usage = Some(usage(&told));
        }
        let Some(Choice { delta, message, finish_reason }) = chunk.choices.0 else { return Ok(()) };
        self.begun = true;
        if let Some(word) = finish_reason.filter(|word| !word.is_empty()) {
            self.finish = Some(Finish::from_word(&word));
        }
        let said = if self.whole { message.or(delta) } else { delta.or(message) };
        let Some(delta) = said else { return Ok(()) };
        if let Some(kept) = &mut self.kept {
            keep(kept, data, self.whole, &mut self.other)?;
        }
        self.delta(delta, events)
    }
}

impl ChatDecoder {
    fn delta(&mut self, delta: Delta<'_>, events: &mut Events) -> Result<()> {
        for (text, kind) in texts(&delta) {
            kind.say(text, events);
        }
        delta.tool_calls.into_iter().flatten().try_for_each(|piece| self.call(piece))
    }

    /// Adds a piece to the call it belongs to: the one with its index, else the last one. A piece
    /// with another id than that is a new call, for some servers give every call the index 0.
    fn call(&mut self, piece: CallPiece) -> Result<()> {
        let id = piece.id.unwrap_or_default();
        let names =
            piece.function.as_ref().is_some_and(|f| f.name.as_ref().is_some_and(|name| !name.is_empty()));
        // Some servers give calls neither an index nor an id: a name then begins another one.
        let begins = piece.index.is_none() && id.is_empty() && names;
        let known = match piece.index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index)),
            None => self.calls.len().checked_sub(1),
        };
        let at = match known.and_then(|at| Some((at, self.calls.get(at)?))) {
            Some((at, call))
                if (id.is_empty() || call.id.is_empty() || call.id == id)
                    && (!begins || call.arguments.is_empty()) =>
            {
                at
            }
            _ if self.calls.len() >= MOST_CALLS => {
                return Err(Error::remote(format!(
                    "the model asked for more than {MOST_CALLS} tool calls at once"
                )));
            }
            _ => {
                let (name, arguments, extra) = (String::new(), String::new(), Map::new());
                self.calls.push(Call { index: piece.index, id: String::new(), name, arguments, extra });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            call.id = id;
        }
        if self.kept.is_some() {
            let mut extra = piece.extra;
            extra.shift_remove("type");
            merge(&mut call.extra, extra);
        }
        let Some(function) = piece.function else { return Ok(()) };
        match function.name {
            Some(name) if name != call.name => call.name.push_str(&name),
            _ => {}
        }
        match function.arguments {
            Some(Value::String(text)) => call.arguments.push_str(&text),
            None | Some(Value::Null) => {}
            Some(object) => call.arguments.push_str(&object.to_string()),
        }
        let length: usize = self.calls.iter().map(|call| call.arguments.len()).sum();
        if length > LIMIT { Err(Error::remote("the arguments of a tool call exceed 16 MiB")) } else { Ok(()) }
    }

    /// The end mark has come: hands on what could not be known to be complete before.
    fn done(&mut self, events: &mut Events) {
        self.done = true;
        for (position, call) in self.calls.iter_mut().enumerate() {
            if call.id.is_empty() {
                call.id = format!("call_{}", position + 1);
            }
        }
        if let Some(mut message) = self.kept.take().filter(|_| !self.calls.is_empty()) {
            message.insert("tool_calls".to_owned(), self.calls.iter().map(Call::received).collect());
            let mut whole = Map::new();
            whole.insert("role".to_owned(), "assistant".into());
            whole.insert("content".to_owned(), message.shift_remove("content").unwrap_or_else(|| "".into()));
            whole.extend(message);
            events.push_back(Event::Replay(Replay::new(Value::Object(whole))));
        }
        for call in self.calls.drain(..) {
            let arguments = message::arguments(&call.arguments);
            events.push_back(Event::ToolCall(ToolCall { id: call.id, name: call.name, arguments }));
        }
        events.extend(self.usage.map(Event::Usage));
        events.push_back(Event::Done(self.finish.take().unwrap_or(Finish::Stop)));
    }
}

impl Call {
    /// The call as it is sent back.
    fn received(&self) -> Value {
        let function = json!({"name": self.name, "arguments": self.arguments});
        let mut call = json!({"id": self.id, "type": "function", "function": function});
        if let Value::Object(fields) = &mut call {
            merge(fields, self.extra.clone());
        }
        call
    }
}

/// Adds what an event says to the message that may have to be sent back; calls are put together elsewhere.
fn keep(kept: &mut Map<String, Value>, data: &[u8], whole: bool, other: &mut Kept) -> Result<()> {
    let mut chunk: Value = serde_json::from_slice(data).unwrap_or_default();
    let Some(choice) = chunk.get_mut("choices").and_then(|choices| choices.get_mut(0)) else { return Ok(()) };
    let names = if whole { ["message", "delta"] } else { ["delta", "message"] };
    let said = names.into_iter().find(|name| choice.get(name).is_some_and(Value::is_object));
    let Some(Value::Object(mut delta)) = said.and_then(|name| choice.get_mut(name)).map(Value::take) else {
        return Ok(());
    };
    for skipped in ["role", "tool_calls", "function_call"] {
        delta.shift_remove(skipped);
    }
    if delta.get("content").is_some_and(Value::is_null) {
        kept.entry("content").or_insert(Value::Null);
    }
    // Texts are counted as the answer is.
    if delta.values().any(|value| value.is_array() || value.is_object()) {
        other.count(data)?;
    }
    merge(kept, delta);
    Ok(())
}

/// The texts of a delta, in order.
fn texts<'a>(delta: &'a Delta<'_>) -> [(&'a str, TextKind); 4] {
    // Servers in between two names send the same text under both.
    let thinking = match delta.reasoning_content.0.is_empty() {
        true => &delta.reasoning.0,
        false => &delta.reasoning_content.0,
    };
    [
        (thinking, TextKind::Thinking),
        (&delta.content.thinking, TextKind::Thinking),
        (&delta.content.text, TextKind::Text),
        (&delta.refusal.0, TextKind::Text),
    ]
}

const FORM: &str = "a chat completion";
