//! Parses the bytes of an answer as they arrive: decompresses them, splits them into events, and returns their steps.

use lepo_base::error::Result;
use lepo_net::client::{LineSplitter, SseFrame, SseParser};
use serde_json::Value;

use super::messages::MessagesUpdates;
use super::ollama::OllamaUpdates;
use super::responses::ResponsesUpdates;
use super::unpack::{AnswerUnpacker, LARGEST};
use super::update::AnswerUpdate;
use super::{chat, ollama};
use crate::wire::ProxyWire;

/// How the bytes of an answer are split.
enum AnswerFraming {
    /// Server-sent events.
    Events(Box<SseParser>),
    /// An object a line.
    Lines(LineSplitter),
    /// A single object.
    Whole(Vec<u8>),
}

/// The events of a wire.
enum WireUpdates {
    Chat,
    Responses(ResponsesUpdates),
    Messages(MessagesUpdates),
    Ollama(OllamaUpdates),
}

/// Reads one answer.
pub struct ProxyAnswerReader {
    unpacker: Option<AnswerUnpacker>,
    framing: AnswerFraming,
    wire: WireUpdates,
    size: usize,
    /// Why the answer cannot be read any further.
    fault: Option<&'static str>,
}

impl ProxyAnswerReader {
    /// Creates the reader of an answer with these headers.
    pub fn new(
        wire: ProxyWire,
        is_streamed: bool,
        content_type: Option<&str>,
        encoding: Option<&str>,
    ) -> ProxyAnswerReader {
        let media = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
        let media = media.trim().to_ascii_lowercase();
        let framing = match media.as_str() {
            "text/event-stream" => AnswerFraming::Events(Box::default()),
            _ if wire == ProxyWire::Ollama && is_streamed => AnswerFraming::Lines(LineSplitter::default()),
            "application/x-ndjson" | "application/jsonl" => AnswerFraming::Lines(LineSplitter::default()),
            "" if is_streamed => AnswerFraming::Events(Box::default()),
            _ => AnswerFraming::Whole(Vec::new()),
        };
        let unpacker = AnswerUnpacker::new(encoding);
        let fault = unpacker.is_none().then_some("its encoding is not known");
        let wire = match wire {
            ProxyWire::Chat => WireUpdates::Chat,
            ProxyWire::Responses => WireUpdates::Responses(ResponsesUpdates::default()),
            ProxyWire::Messages => WireUpdates::Messages(MessagesUpdates::default()),
            ProxyWire::Ollama => WireUpdates::Ollama(ollama::OllamaUpdates::default()),
        };
        ProxyAnswerReader { unpacker, framing, wire, size: 0, fault }
    }

    /// Returns why the answer, or the rest of it, cannot be read.
    pub fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// Parses more bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<AnswerUpdate> {
        let mut updates = Vec::new();
        if self.fault.is_some() {
            return updates;
        }
        match self.unpacker.as_mut().map(|unpacker| unpacker.feed(bytes)) {
            Some(Ok(plain)) => self.feed_plain(&plain, &mut updates),
            _ => self.fault = Some("it cannot be unpacked"),
        }
        updates
    }

    fn feed_plain(&mut self, bytes: &[u8], updates: &mut Vec<AnswerUpdate>) {
        self.size = self.size.saturating_add(bytes.len());
        if self.size > LARGEST {
            self.fault = Some("it is longer than 256 MiB");
            return;
        }
        let ProxyAnswerReader { framing, wire, .. } = self;
        let fed = match framing {
            AnswerFraming::Events(events) => events.feed(bytes, |frame| wire.read_frame(frame, updates)),
            AnswerFraming::Lines(lines) => lines.feed(bytes, |line| wire.read_line(line, updates)),
            AnswerFraming::Whole(whole) => {
                whole.extend_from_slice(bytes);
                Ok(())
            }
        };
        if fed.is_err() {
            self.fault = Some("a line of it is longer than 16 MiB");
        }
    }

    /// Parses the end of the bytes.
    pub fn finish(&mut self) -> Vec<AnswerUpdate> {
        let mut updates = Vec::new();
        if self.fault.is_some() {
            return updates;
        }
        let rest = self.unpacker.as_mut().map(AnswerUnpacker::finish).unwrap_or_default();
        self.feed_plain(&rest, &mut updates);
        let ProxyAnswerReader { framing, wire, .. } = self;
        // A last line that is too long was a fault before.
        let _ = match framing {
            AnswerFraming::Events(events) => events.finish(|frame| wire.read_frame(frame, &mut updates)),
            AnswerFraming::Lines(lines) => lines.finish(|line| wire.read_line(line, &mut updates)),
            AnswerFraming::Whole(whole) => {
                match serde_json::from_slice(&std::mem::take(whole)) {
                    Ok(answer) => wire.read_whole(&answer, &mut updates),
                    Err(_) => self.fault = Some("it is not JSON"),
                }
                Ok(())
            }
        };
        updates
    }
}

impl WireUpdates {
    fn read_frame(&mut self, frame: SseFrame<'_>, to: &mut Vec<AnswerUpdate>) -> Result<()> {
        if let SseFrame::Event(event) = frame {
            self.read_line(event.data, to)?;
        }
        Ok(())
    }

    /// Reads an event or a line; skips it if it is not JSON.
    fn read_line(&mut self, line: &[u8], to: &mut Vec<AnswerUpdate>) -> Result<()> {
        if line.trim_ascii() == b"[DONE]" {
            to.push(AnswerUpdate::End);
        } else if let Ok(event) = serde_json::from_slice::<Value>(line) {
            match self {
                WireUpdates::Chat => chat::read_event(&event, to),
                WireUpdates::Responses(events) => events.read_event(&event, to),
                WireUpdates::Messages(events) => events.read_event(&event, to),
                WireUpdates::Ollama(lines) => lines.read(&event, to),
            }
        }
        Ok(())
    }

    fn read_whole(&mut self, answer: &Value, to: &mut Vec<AnswerUpdate>) {
        match self {
            WireUpdates::Chat => chat::read_whole(answer, to),
            WireUpdates::Responses(events) => events.read_whole(answer, to),
            WireUpdates::Messages(events) => events.read_whole(answer, to),
            WireUpdates::Ollama(lines) => lines.read(answer, to),
        }
    }
}
