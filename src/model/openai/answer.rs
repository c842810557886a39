//! OpenAI's chat completions: what comes back, a stream of events or one document.

use serde_json::Value;

use super::chunk::{CallPiece, Choice, Chunk, Delta};
use crate::error::{Error, Result};
use crate::model::answer::AnswerReader;
use crate::model::body::cut_off;
use crate::model::error_text::{excerpt, is_half, words};
use crate::model::event::{Event, Events, Finish, Usage};
use crate::model::fast_path::{Pattern, Voice};
use crate::model::message::{self, ToolCall};
use crate::model::ndjson::LIMIT;
use crate::model::sse::{Frame, Sse};

/// The most tool calls in one answer: each takes a look at all others.
const MOST_CALLS: usize = 1000;

/// Reads an answer, whatever pieces its bytes come in.
#[derive(Default)]
pub struct Reader {
    shape: Shape,
    state: State,
}

/// What the bytes are, known from the first that is no white space.
#[derive(Default)]
enum Shape {
    #[default]
    Unknown,
    Stream(Sse),
    /// One JSON document, from a server that does not stream; or a page of HTML.
    Document(Vec<u8>),
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    usage: Option<Usage>,
    finish: Option<Finish>,
    /// The first line that was no part of an event.
    stray: Option<String>,
    pattern: Option<Pattern>,
    begun: bool,
    done: bool,
}

/// A call that is still being put together.
struct Call {
    index: Option<usize>,
    id: String,
    name: String,
    arguments: String,
}

impl AnswerReader for Reader {
    fn read(&mut self, mut bytes: &[u8], events: &mut Events) -> Result<()> {
        if let Shape::Unknown = self.shape {
            // White space, and a byte order mark.
            let blank = |byte: &u8| byte.is_ascii_whitespace() || b"\xEF\xBB\xBF".contains(byte);
            let Some(start) = bytes.iter().position(|byte| !blank(byte)) else { return Ok(()) };
            bytes = &bytes[start..];
            self.shape = match bytes[0] {
                b'{' | b'[' | b'<' => Shape::Document(Vec::new()),
                _ => Shape::Stream(Sse::default()),
            };
        }
        let Reader { shape, state } = self;
        match shape {
            Shape::Stream(sse) => sse.feed(bytes, |frame| state.frame(frame, events)),
            Shape::Document(document) if document.len() + bytes.len() > LIMIT => {
                Err(Error::remote("the answer is one document of more than 16 MiB"))
            }
            Shape::Document(document) => {
                document.extend_from_slice(bytes);
                Ok(())
            }
            Shape::Unknown => Ok(()),
        }
    }

    fn end(&mut self, events: &mut Events) -> Result<()> {
        let Reader { shape, state } = self;
        match shape {
            Shape::Unknown => return Err(Error::remote("the answer was empty")),
            Shape::Document(document) if is_half(document) => {
                return Err(cut_off("the document is not complete"));
            }
            Shape::Document(document) => {
                state.data(document, events)?;
                if !state.begun {
                    return Err(not_understood(document));
                }
                // A whole document needs no other end mark.
                state.finish.get_or_insert(Finish::Stop);
            }
            Shape::Stream(sse) => sse.end(|frame| match frame {
                Frame::Data(data) if is_half(data) => Ok(()),
                frame => state.frame(frame, events),
            })?,
        }
        match (state.done, state.finish.is_some(), &state.stray) {
            (true, _, _) => Ok(()),
            (false, true, _) => {
                state.done(events);
                Ok(())
            }
            (false, false, Some(stray)) if !state.begun => {
                Err(Error::remote(format!("the answer is no stream of events: {stray}")))
            }
            _ => Err(cut_off("the stream ended without `finish_reason` or `[DONE]`")),
        }
    }

    fn is_finishing(&self) -> bool {
        self.state.finish.is_some()
    }
}

impl State {
    fn frame(&mut self, frame: Frame<'_>, events: &mut Events) -> Result<()> {
        match frame {
            _ if self.done => Ok(()),
            Frame::Data(b"[DONE]") => {
                self.done(events);
                Ok(())
            }
            Frame::Data(data) => self.data(data, events),
            // An error that a server sent as bare JSON, in place of an event.
            Frame::Stray(line) if line.starts_with(b"{\"error\"") => self.data(line, events),
            Frame::Stray(line) => {
                self.stray.get_or_insert_with(|| excerpt(line));
                Ok(())
            }
        }
    }

    fn data(&mut self, data: &[u8], events: &mut Events) -> Result<()> {
        if let Some(event) = self.pattern.as_ref().and_then(|pattern| pattern.read(data)) {
            events.push_back(event);
            return Ok(());
        }
        let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|_| not_understood(data))?;
        let error = chunk.error.or(chunk.message.filter(Value::is_string)).filter(|error| !error.is_null());
        if let Some(error) = error {
            let words = words(&error).unwrap_or_else(|| excerpt(error.to_string().as_bytes()));
            return Err(
                Error::remote(format!("the model failed: {words}")).hint("ask again: `lepo do --retry`")
            );
        }
        let priced = chunk.usage.is_some();
        if let Some(tokens) = chunk.usage {
            self.begun = true;
            self.usage = Some(Usage { input: tokens.prompt_tokens, output: tokens.completion_tokens });
        }
        let Some(Choice { delta, finish_reason }) = chunk.choices.0 else { return Ok(()) };
        self.begun = true;
        if let Some(word) = finish_reason.filter(|word| !word.is_empty()) {
            self.finish = Some(Finish::from_word(&word));
        }
        let Some(delta) = delta else { return Ok(()) };
        if !priced && self.finish.is_none() && delta.tool_calls.as_ref().is_none_or(Vec::is_empty) {
            self.pattern = only_text(&delta).and_then(|(text, voice)| Pattern::of(data, text, voice));
        }
        self.delta(delta, events)
    }

    fn delta(&mut self, delta: Delta<'_>, events: &mut Events) -> Result<()> {
        for (text, voice) in texts(&delta) {
            if !text.is_empty() {
                events.push_back(voice.says(text.to_owned()));
            }
        }
        delta.tool_calls.into_iter().flatten().try_for_each(|piece| self.call(piece))
    }

    /// Adds a piece to the call it belongs to: the one with its index, else the last one. A piece
    /// with another id than that is a new call, for some servers give every call the index 0.
    fn call(&mut self, piece: CallPiece) -> Result<()> {
        let id = piece.id.unwrap_or_default();
        let known = match piece.index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index)),
            None => self.calls.len().checked_sub(1),
        };
        let at = match known.and_then(|at| Some((at, self.calls.get(at)?))) {
            Some((at, call)) if id.is_empty() || call.id.is_empty() || call.id == id => at,
            _ if self.calls.len() >= MOST_CALLS => {
                return Err(Error::remote(format!(
                    "the model asks for more than {MOST_CALLS} tool calls at once"
                )));
            }
            _ => {
                let (name, arguments) = (String::new(), String::new());
                self.calls.push(Call { index: piece.index, id: String::new(), name, arguments });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            call.id = id;
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
        for (position, call) in self.calls.drain(..).enumerate() {
            let id = if call.id.is_empty() { format!("call_{}", position + 1) } else { call.id };
            let arguments = message::arguments(&call.arguments);
            events.push_back(Event::ToolCall(ToolCall { id, name: call.name, arguments }));
        }
        events.extend(self.usage.map(Event::Usage));
        events.push_back(Event::Done(self.finish.take().unwrap_or(Finish::Stop)));
    }
}

/// What a delta says, in order.
fn texts<'a>(delta: &'a Delta<'_>) -> [(&'a str, Voice); 3] {
    // Servers in between two names send the same text under both.
    let thinking =
        if delta.reasoning_content.0.is_empty() { &delta.reasoning.0 } else { &delta.reasoning_content.0 };
    [(thinking, Voice::Thinking), (&delta.content.0, Voice::Text), (&delta.refusal.0, Voice::Text)]
}

/// The one text of a delta that has only one.
fn only_text<'a>(delta: &'a Delta<'_>) -> Option<(&'a str, Voice)> {
    let both_names = !delta.reasoning_content.0.is_empty() && !delta.reasoning.0.is_empty();
    let mut said = texts(delta).into_iter().filter(|(text, _)| !text.is_empty());
    said.next().filter(|_| !both_names && said.next().is_none())
}

fn not_understood(data: &[u8]) -> Error {
    Error::remote(format!("the answer is no chat completion: {}", excerpt(data)))
        .hint("check that `provider` and `base_url` belong together")
}
