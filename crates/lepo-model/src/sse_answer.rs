//! An answer over HTTP whose body is a stream of server-sent events, or one JSON document from a server
//! that does not stream; the same for all APIs that have such events.

use serde_json::Value;

use super::error_text::{complaint, is_half, told};
use super::event::Events;
use super::failure::{failure_in, failure_words};
use super::reader::{AnswerReader, Refused};
use super::stream::cut_off;
use super::well_formed::values_in;
use lepo_base::error::{Error, Result};
use lepo_net::net::{Frame, LIMIT, Sse, SseEvent};

/// Decodes the events of one API.
pub(super) trait Decoder {
    /// The name of the end mark, for the error of an answer without it.
    const END: &'static str;
    /// The name of this form, for messages.
    const FORM: &'static str;

    /// Takes an event.
    fn data(&mut self, data: &[u8], events: &mut Events) -> Result<EventUse>;

    /// Takes a whole answer that was not streamed; false if it is none.
    fn document(&mut self, whole: &Value, events: &mut Events) -> Result<bool>;

    /// `[DONE]` has come, or the bytes have ended where a finish reason came before: what there is is complete.
    fn finish(&mut self, events: &mut Events) -> Result<()>;

    /// Anything of the answer has come.
    fn has_begun(&self) -> bool;

    /// The end mark has come.
    fn is_done(&self) -> bool;

    /// A finish reason has come.
    fn has_finish(&self) -> bool;

    /// The word of a finish reason that names a failure.
    fn failed_word(&self) -> Option<&str>;

    /// The answer is complete, and only its price may follow.
    fn is_finishing(&self) -> bool {
        self.has_finish()
    }
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventUse {
    /// Something of the answer was in it.
    Used,
    /// Nothing was: it is of another kind, or an error.
    Unused,
    /// It could not be read.
    Unread,
    /// It is the end mark.
    End,
}

/// Reads an answer, whatever pieces its bytes come in.
#[derive(Default)]
pub(super) struct SseAnswer<D> {
    shape: Shape,
    decoder: D,
    /// The first event or line that was no part of an answer.
    stray: Option<Stray>,
    refused: Option<Refused>,
}

/// What came in place of an answer.
struct Stray {
    words: String,
    /// They are a server's own words for what went wrong.
    is_complaint: bool,
}

/// The form of the bytes, known from the first that is no white space.
#[derive(Default)]
enum Shape {
    #[default]
    Unknown,
    Stream(Sse),
    /// One JSON document; or a page of HTML.
    Document(Vec<u8>),
}

/// The data of the event that ends a stream.
const DONE: &[u8] = b"[DONE]";

/// Names of events that keep a connection open.
const HEARTBEATS: &[&[u8]] = &[b"ping", b"heartbeat", b"keepalive", b"keep-alive", b"keep_alive"];

impl<D: Decoder> SseAnswer<D> {
    /// A reader that hands events to `decoder`.
    pub fn new(decoder: D) -> Self {
        SseAnswer { shape: Shape::Unknown, decoder, stray: None, refused: None }
    }

    fn frame(&mut self, frame: Frame<'_>, events: &mut Events) -> Result<()> {
        match frame {
            _ if self.decoder.is_done() => Ok(()),
            Frame::Event(SseEvent { name, data }) => self.event(name, data, events),
            // llama.cpp's form.
            Frame::Stray(line) if line.starts_with(b"error:") => {
                self.event(b"error", line.get(b"error:".len()..).unwrap_or_default().trim_ascii(), events)
            }
            // An event without the name of its field.
            Frame::Stray(line) if line.starts_with(b"{") => self.event(b"", line, events),
            Frame::Stray(line) => {
                self.note_stray(line);
                Ok(())
            }
        }
    }

    /// Takes an event. What is no JSON, or of no concern, is passed over; an error is what has the shape of one.
    fn event(&mut self, name: &[u8], data: &[u8], events: &mut Events) -> Result<()> {
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
                // An event of somebody else's is an error only if it has one.
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
        // Text of the answer may be in it, which must not be lost without a word.
        if is_text && data.starts_with(b"{") && self.decoder.has_begun() && !HEARTBEATS.contains(&name) {
            return Err(cut_off(&format!("an event of it is not JSON: {}", told(data))));
        }
        self.note_stray(data);
        Ok(())
    }

    /// The end mark has come, or what counts as one.
    fn finish(&mut self, events: &mut Events) -> Result<()> {
        if let Some(word) = self.decoder.failed_word() {
            let words = format!("its answer ended with {word}");
            // As a gateway would have told it.
            self.refused = Some(Refused { status: 502, words: words.clone(), body: String::new() });
            return Err(Error::remote(format!("the model failed: {words}")).ask_again());
        }
        self.decoder.finish(events)
    }

    /// The failure that a value tells of, if it does.
    fn fails(&mut self, value: &Value, is_named: bool) -> Result<()> {
        let Some(error) = failure_in(value, is_named) else { return Ok(()) };
        self.refused = Refused::new(&error);
        Err(Error::remote(format!("the model failed: {}", failure_words(&error))).ask_again())
    }

    fn note_stray(&mut self, data: &[u8]) {
        if !self.decoder.has_begun() && !data.trim_ascii().is_empty() {
            self.stray.get_or_insert_with(|| Stray {
                words: told(data),
                is_complaint: data.starts_with(b"{") && complaint(data).is_some(),
            });
        }
    }

    /// Takes a document: one answer, or several events without the form of events.
    fn whole(&mut self, document: &[u8], events: &mut Events) -> Result<()> {
        let mut values = values_in(document);
        if values.is_empty() {
            let half = document.trim_ascii_end().strip_suffix(b"data: [DONE]").unwrap_or(document);
            return Err(match is_half(half) {
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
        match &mut self.shape {
            Shape::Stream(sse) => {
                let mut sse = std::mem::take(sse);
                let read = sse.feed(bytes, |frame| self.frame(frame, events));
                self.shape = Shape::Stream(sse);
                read
            }
            Shape::Document(document) if document.len() + bytes.len() > LIMIT => {
                Err(Error::remote("the answer is a single document of more than 16 MiB"))
            }
            Shape::Document(document) => {
                document.extend_from_slice(bytes);
                Ok(())
            }
            Shape::Unknown => Ok(()),
        }
    }

    fn end(&mut self, events: &mut Events) -> Result<()> {
        match std::mem::take(&mut self.shape) {
            _ if self.decoder.is_done() => return Ok(()),
            Shape::Unknown => return Err(Error::remote("the answer was empty")),
            Shape::Document(document) => self.whole(&document, events)?,
            Shape::Stream(mut sse) => sse.end(|frame| match frame {
                Frame::Event(event) if is_half(event.data) && event.data.starts_with(b"{") => Ok(()),
                frame => self.frame(frame, events),
            })?,
        }
        if !self.decoder.is_done() && self.decoder.has_finish() {
            self.finish(events)?;
        }
        match &self.stray {
            _ if self.decoder.is_done() => Ok(()),
            Some(stray) if !self.decoder.has_begun() => Err(match stray.is_complaint {
                true => Error::remote(format!("the model failed: {}", stray.words)).ask_again(),
                false => Error::remote(format!("the answer is not an event stream: {}", stray.words)),
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

    fn refused(&self) -> Option<Refused> {
        self.refused.clone()
    }
}

/// True for an event whose name is not of the API, and which has neither a type nor an error.
fn is_foreign(name: &[u8], value: &Value) -> bool {
    !matches!(name, b"" | b"error" | b"message")
        && value.get("type").is_none()
        && value.get("error").is_none()
}

/// The error for an answer in another form than its API's.
pub(super) fn not_understood(form: &str, data: &[u8]) -> Error {
    Error::remote(format!("unexpected response: not {form}: {}", told(data)))
        .hint("check that `provider` and `base_url` belong together")
}
