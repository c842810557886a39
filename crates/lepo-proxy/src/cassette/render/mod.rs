//! Writes a recorded answer as a server of the request's wire would: the same bytes at each run.

mod chat;
mod messages;
mod ollama;
mod responses;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::reply::RecordedReply;
use crate::request::ProxyRequest;
use crate::wire::ProxyWire;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream; charset=utf-8";
const LINES: &str = "application/x-ndjson";

/// Returns the media type and the bytes.
pub fn render(reply: &RecordedReply, request: &ProxyRequest) -> (&'static str, Vec<u8>) {
    match (request.wire(), request.is_streamed()) {
        (ProxyWire::Chat, false) => whole(&chat::full_answer(reply, request)),
        (ProxyWire::Chat, true) => (EVENTS, chat::events(reply, request)),
        (ProxyWire::Responses, false) => whole(&responses::full_answer(reply, request)),
        (ProxyWire::Responses, true) => (EVENTS, responses::events(reply, request)),
        (ProxyWire::Messages, false) => whole(&messages::full_answer(reply, request)),
        (ProxyWire::Messages, true) => (EVENTS, messages::events(reply, request)),
        (ProxyWire::Ollama, false) => whole(&ollama::full_answer(reply, request)),
        (ProxyWire::Ollama, true) => (LINES, ollama::lines(reply, request)),
    }
}

fn whole(answer: &Value) -> (&'static str, Vec<u8>) {
    (JSON, answer.to_string().into_bytes())
}
