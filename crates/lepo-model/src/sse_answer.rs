//! An answer over HTTP whose body is a stream of server-sent events, or one JSON document from a server
//! that does not stream; the same for all APIs that have such events.

use super::error_text::{is_half, told};
use super::event::Events;
use super::reader::{AnswerReader, Refused};
use super::stream::cut_off;
use super::well_formed::read_well_formed;
use lepo_base::error::{Error, Result};
use lepo_net::net::{Frame, LIMIT, Sse};

/// Decodes the events of one API.
pub(super) trait Decoder {
    /// The name of the end mark, for the error of an answer without it.
    const END: &'static str;
    /// The name of this form, for messages.
    const FORM: &'static str;

    /// Takes the data of one event.
    fn data(&mut self, data: &[u8], events: &mut Events) -> Result<()>;

    /// Takes a whole answer that was not streamed.
    fn document(&mut self, data: &[u8], events: &mut Events) -> Result<()>;

    /// The bytes have ended without an end mark: takes what there is as complete, if it is.
    fn close(&mut self, events: &mut Events);

    /// Anything of the answer has come.
    fn has_begun(&self) -> bool;

    /// The end mark has come.
    fn is_done(&self) -> bool;

    /// The answer is complete, and only its price may follow.
    fn is_finishing(&self) -> bool {
        false
    }

    /// The refusal that came in place of an answer, after a status of success.
    fn refused(&self) -> Option<Refused> {
        None
    }
}

/// Reads an answer, whatever pieces its bytes come in.
#[derive(Default)]
pub(super) struct SseAnswer<D> {
    shape: Shape,
    decoder: D,
    /// The first line that was no part of an event.
    stray: Option<String>,
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

impl<D: Decoder> SseAnswer<D> {
    /// A reader that hands events to `decoder`.
    pub fn new(decoder: D) -> Self {
        SseAnswer { shape: Shape::Unknown, decoder, stray: None }
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
        let SseAnswer { shape, decoder, stray } = self;
        match shape {
            Shape::Stream(sse) => sse.feed(bytes, |frame| take(decoder, stray, frame, events)),
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
        let SseAnswer { shape, decoder, stray } = self;
        match shape {
            Shape::Unknown => return Err(Error::remote("the answer was empty")),
            Shape::Document(document) if is_half(document) => {
                return Err(cut_off("the document is incomplete"));
            }
            Shape::Document(document) => {
                read_well_formed(document, |document| decoder.document(document, events))?;
                if !decoder.has_begun() {
                    return Err(not_understood(D::FORM, document));
                }
            }
            Shape::Stream(sse) => sse.end(|frame| match frame {
                Frame::Event(event) if is_half(event.data) => Ok(()),
                frame => take(decoder, stray, frame, events),
            })?,
        }
        if !decoder.is_done() {
            decoder.close(events);
        }
        match stray {
            _ if decoder.is_done() => Ok(()),
            Some(stray) if !decoder.has_begun() => {
                Err(Error::remote(format!("the answer is not an event stream: {stray}")))
            }
            _ => Err(cut_off(&format!("the stream ended without {}", D::END))),
        }
    }

    fn is_finishing(&self) -> bool {
        self.decoder.is_finishing()
    }

    fn refused(&self) -> Option<Refused> {
        self.decoder.refused()
    }
}

fn take<D: Decoder>(
    decoder: &mut D,
    stray: &mut Option<String>,
    frame: Frame<'_>,
    events: &mut Events,
) -> Result<()> {
    match frame {
        _ if decoder.is_done() => Ok(()),
        Frame::Event(event) => read_well_formed(event.data, |data| decoder.data(data, events)),
        // An error that a server sent as bare JSON, in place of an event.
        Frame::Stray(line) if line.starts_with(b"{\"error\"") => decoder.data(line, events),
        Frame::Stray(line) => {
            stray.get_or_insert_with(|| told(line));
            Ok(())
        }
    }
}

/// The error for an answer in another form than its API's.
pub(super) fn not_understood(form: &str, data: &[u8]) -> Error {
    Error::remote(format!("unexpected response: not {form}: {}", told(data)))
        .hint("check that `provider` and `base_url` belong together")
}
