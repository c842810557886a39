//! An answer over HTTP as a stream of server-sent events, or as one JSON document from a server that does not
//! stream; shared by all APIs with such events.

use serde_json::Value;

use super::answer_reader::{AnswerReader, StreamRefusal};
use super::error_text::{is_truncated, message_excerpt, message_or_excerpt};
use super::event::EventQueue;
use super::failure::{failure_in, failure_message};
use super::stream::cut_off;
use super::well_formed::values_in;
use lepo_base::error::{Error, Result};
use lepo_net::client::{LIMIT, SseEvent, SseFrame, SseParser};

/// Decodes the events of one API.
pub(super) trait Decoder {
    /// The name of the end mark, for the error of an answer without it.
    const END: &'static str;
    /// The name of the form, for messages.
    const FORM: &'static str;

    fn data(&mut self, data: &[u8], events: &mut EventQueue) -> Result<EventUse>;

    /// Decodes a complete answer that was not streamed; returns false if it is something else.
    fn document(&mut self, whole: &Value, events: &mut EventQueue) -> Result<bool>;

    /// Completes the answer: after `[DONE]`, or at the end of the bytes if a finish reason precedes it.
    fn finish(&mut self, events: &mut EventQueue) -> Result<()>;

    /// Whether any part of the answer has arrived.
    fn has_begun(&self) -> bool;

    /// Whether the end mark has arrived.
    fn is_done(&self) -> bool;

    fn has_finish(&self) -> bool;

    /// Returns a finish reason that is a failure.
    fn failure_reason(&self) -> Option<&str>;

    /// Whether the answer is complete, and only its usage may follow.
    fn is_finishing(&self) -> bool {
        self.has_finish()
    }
}

/// The result of decoding an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventUse {
    /// The event had a part of the answer.
    Used,
    /// The event had none: another kind of event, or an error.
    Unused,
    Unread,
    End,
}

/// Decodes an answer, however its bytes are split.
#[derive(Default)]
pub(super) struct SseAnswer<D> {
    shape: BodyShape,
    decoder: D,
    /// The first event or line that is not part of an answer.
    stray: Option<Stray>,
    refused: Option<StreamRefusal>,
}

/// Data received instead of an answer.
struct Stray {
    message: String,
    /// Whether this is the server's own error message.
    is_complaint: bool,
}

/// The form of the bytes, known from the first that is not white space.
#[derive(Default)]
enum BodyShape {
    #[default]
    Unknown,
    Stream(SseParser),
    /// A JSON document, or a page of HTML.
    Document(Vec<u8>),
}

/// The data of the event that ends a stream.
const DONE: &[u8] = b"[DONE]";

/// Names of events that prevent a timeout of the connection.
const HEARTBEATS: &[&[u8]] = &[b"ping", b"heartbeat", b"keepalive", b"keep-alive", b"keep_alive"];

impl<D: Decoder> SseAnswer<D> {
    /// Creates a reader that passes events to `decoder`.
    pub fn new(decoder: D) -> Self {
        SseAnswer { shape: BodyShape::Unknown, decoder, stray: None, refused: None }
    }

    fn frame(&mut self, frame: SseFrame<'_>, events: &mut EventQueue) -> Result<()> {
        match frame {
            _ if self.decoder.is_done() => Ok(()),
            SseFrame::Event(SseEvent { name, data }) => self.event(name, data, events),
            // llama.cpp's form.
            SseFrame::Stray(line) if line.starts_with(b"error:") => {
                self.event(b"error", line.get(b"error:".len()..).unwrap_or_default().trim_ascii(), events)
            }
            // An event without the name of its field.
            SseFrame::Stray(line) if line.starts_with(b"{") => self.event(b"", line, events),
            SseFrame::Stray(line) => {
                self.note_stray(line);
                Ok(())
            }
        }
    }

    /// Handles an event. Malformed or foreign data is skipped; an error is recognised by its form.
    fn event(&mut self, name: &[u8], data: &[u8], events: &mut EventQueue) -> Result<()> {
        if data.trim_ascii() == DONE {
            return self.finish(events);
        }
        let had_finish = self.decoder.has_finish();
        let taken = match self.decoder.data(data, events)? {
            EventUse::Used => return Ok(()),
            EventUse::End => return self.finish(events),
            taken @ (EventUse::Unused | EventUse::Unread) => taken,
        };
        let values = values_in(data);
        let is_error = name == b"error";
        for value in &values {
            let taken = match taken == EventUse::Unread && value.is_object() {
                true => self.decoder.data(value.to_string().as_bytes(), events)?,
                false => EventUse::Unused,
            };
            match taken {
                EventUse::End => return self.finish(events),
                // A foreign event is an error only if it contains one.
                EventUse::Unused | EventUse::Unread if had_finish || is_foreign(name, value) => {}
                EventUse::Unused | EventUse::Unread => self.fails(value, is_error)?,
                EventUse::Used => {}
            }
        }
        if data.trim_ascii_end().ends_with(DONE) && !values.is_empty() {
            return self.finish(events);
        }
        let is_text = values.is_empty() && !had_finish;
        if is_text && is_error {
            return self.fails(&Value::String(String::from_utf8_lossy(data).into_owned()), true);
        }
        // The event may contain text of the answer, which must not be lost silently.
        if is_text && data.starts_with(b"{") && self.decoder.has_begun() && !HEARTBEATS.contains(&name) {
            return Err(cut_off(&format!("an event of it is not JSON: {}", message_or_excerpt(data))));
        }
        self.note_stray(data);
        Ok(())
    }

    /// Completes the answer at the end mark, or an equivalent.
    fn finish(&mut self, events: &mut EventQueue) -> Result<()> {
        if let Some(word) = self.decoder.failure_reason() {
            let words = format!("its answer ended with {word}");
            // The status that a gateway would have used.
            self.refused = Some(StreamRefusal { status: 502, message: words.clone(), body: String::new() });
            return Err(Error::remote(format!("the model failed: {words}")).ask_again());
        }
        self.decoder.finish(events)
    }

    /// Fails if a value contains an error.
    fn fails(&mut self, value: &Value, is_named: bool) -> Result<()> {
        let Some(error) = failure_in(value, is_named) else { return Ok(()) };
        self.refused = StreamRefusal::new(&error);
        Err(Error::remote(format!("the model failed: {}", failure_message(&error))).ask_again())
    }

    fn note_stray(&mut self, data: &[u8]) {
        if !self.decoder.has_begun() && !data.trim_ascii().is_empty() {
            self.stray.get_or_insert_with(|| Stray {
                message: message_or_excerpt(data),
                is_complaint: data.starts_with(b"{") && message_excerpt(data).is_some(),
            });
        }
    }

    /// Decodes a document: one answer, or several events without the form of a stream.
    fn decode_document(&mut self, document: &[u8], events: &mut EventQueue) -> Result<()> {
        let mut values = values_in(document);
        if values.is_empty() {
            let half = document.trim_ascii_end().strip_suffix(b"data: [DONE]").unwrap_or(document);
            return Err(match is_truncated(half) {
                true => cut_off("the document is incomplete"),
                false => not_understood(D::FORM, document),
            });
        }
        if values.len() == 1
            && let Some(value) = values.pop()
        {
            if self.decoder.document(&value, events)? {
                return Ok(());
            }
            self.fails(&value, false)?;
            self.fails(&value, value.get("message").or(value.get("detail")).is_some())?;
            // A single event of a stream.
            values.push(value);
        }
        for value in &values {
            let had_finish = self.decoder.has_finish();
            match self.decoder.data(value.to_string().as_bytes(), events)? {
                EventUse::End => return self.finish(events),
                EventUse::Unused | EventUse::Unread if !had_finish => self.fails(value, false)?,
                EventUse::Used | EventUse::Unused | EventUse::Unread => {}
            }
        }
        match self.decoder.has_begun() {
            true if document.trim_ascii_end().ends_with(DONE) && !self.decoder.is_done() => {
                self.finish(events)
            }
            true => Ok(()),
            false => Err(not_understood(D::FORM, document)),
        }
    }
}

impl<D: Decoder> AnswerReader for SseAnswer<D> {
    fn read(&mut self, mut bytes: &[u8], events: &mut EventQueue) -> Result<()> {
        if let BodyShape::Unknown = self.shape {
            // White space, and a byte order mark.
            let blank = |byte: &u8| byte.is_ascii_whitespace() || b"\xEF\xBB\xBF".contains(byte);
            let Some(start) = bytes.iter().position(|byte| !blank(byte)) else { return Ok(()) };
            bytes = &bytes[start..];
            self.shape = match bytes[0] {
                b'{' | b'[' | b'<' => BodyShape::Document(Vec::new()),
                _ => BodyShape::Stream(SseParser::default()),
            };
        }
        match &mut self.shape {
            BodyShape::Stream(sse) => {
                let mut sse = std::mem::take(sse);
                let read = sse.feed(bytes, |frame| self.frame(frame, events));
                self.shape = BodyShape::Stream(sse);
                read
            }
            BodyShape::Document(document) if document.len() + bytes.len() > LIMIT => {
                Err(Error::remote("the answer is a single document of more than 16 MiB"))
            }
            BodyShape::Document(document) => {
                document.extend_from_slice(bytes);
                Ok(())
            }
            BodyShape::Unknown => Ok(()),
        }
    }

    fn finish(&mut self, events: &mut EventQueue) -> Result<()> {
        match std::mem::take(&mut self.shape) {
            _ if self.decoder.is_done() => return Ok(()),
            BodyShape::Unknown => return Err(Error::remote("the answer was empty")),
            BodyShape::Document(document) => self.decode_document(&document, events)?,
            BodyShape::Stream(mut sse) => sse.finish(|frame| match frame {
                SseFrame::Event(event) if is_truncated(event.data) && event.data.starts_with(b"{") => Ok(()),
                frame => self.frame(frame, events),
            })?,
        }
        if !self.decoder.is_done() && self.decoder.has_finish() {
            self.finish(events)?;
        }
        match &self.stray {
            _ if self.decoder.is_done() => Ok(()),
            Some(stray) if !self.decoder.has_begun() => Err(match stray.is_complaint {
                true => Error::remote(format!("the model failed: {}", stray.message)).ask_again(),
                false => Error::remote(format!("the answer is not an event stream: {}", stray.message)),
            }),
            _ => Err(cut_off(&format!("the stream ended without {}", D::END))),
        }
    }

    fn is_finishing(&self) -> bool {
        self.decoder.is_finishing()
    }

    fn is_done(&self) -> bool {
        self.decoder.is_done()
    }

    fn refusal(&self) -> Option<StreamRefusal> {
        self.refused.clone()
    }
}

/// Whether the event's name is not part of the API, and the event has neither a type nor an error.
fn is_foreign(name: &[u8], value: &Value) -> bool {
    !matches!(name, b"" | b"error" | b"message")
        && value.get("type").is_none()
        && value.get("error").is_none()
}

/// Returns the error for an answer in another form than its API's.
pub(super) fn not_understood(form: &str, data: &[u8]) -> Error {
    Error::remote(format!("unexpected response: not {form}: {}", message_or_excerpt(data)))
        .hint("check that `provider` and `base_url` belong together")
}
