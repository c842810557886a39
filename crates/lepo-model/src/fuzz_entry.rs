//! Entry of the fuzz targets: reads an answer from given bytes.

use super::event::{ChatEvent, EventQueue};
use super::message::ToolSpec;
use super::{anthropic, ollama, openai, responses};

/// The API to which the bytes belong.
#[derive(Debug, Clone, Copy)]
pub enum StreamFormat {
    /// Chat completions: server-sent events.
    Openai,
    /// Ollama: a JSON object per line.
    Ollama,
    /// The Messages API: server-sent events.
    Anthropic,
    /// The Responses API: server-sent events.
    Responses,
}

/// Returns the start of an answer, with the text `one`, and its end, with the text `two`.
pub fn text_between(form: StreamFormat) -> (&'static str, &'static str) {
    match form {
        StreamFormat::Openai => (
            "data: {\"choices\":[{\"delta\":{\"content\":\"one\"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"content\":\"two\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        ),
        StreamFormat::Ollama => (
            "{\"message\":{\"content\":\"one\"},\"done\":false}\n",
            "{\"message\":{\"content\":\"two\"},\"done\":true}\n",
        ),
        StreamFormat::Anthropic => (
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"one\"}}\n\n",
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"two\"}}\n\n\
             data: {\"type\":\"message_stop\"}\n\n",
        ),
        StreamFormat::Responses => (
            "data: {\"type\":\"response.output_text.delta\",\"delta\":\"one\"}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"delta\":\"two\"}\n\n\
             data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
        ),
    }
}

/// Returns the events of an answer whose bytes come in these pieces, with texts joined, and its error, if it failed.
pub fn read_pieces<'b>(
    form: StreamFormat,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> (Vec<ChatEvent>, Option<String>) {
    let mut events = EventQueue::new();
    let spec = match form {
        StreamFormat::Openai => &openai::SPEC,
        StreamFormat::Ollama => &ollama::SPEC,
        StreamFormat::Anthropic => &anthropic::SPEC,
        StreamFormat::Responses => &responses::SPEC,
    };
    let Some(http) = spec.http else { return (Vec::new(), None) };
    let name = "run_command".to_owned();
    let tools = [ToolSpec { name, description: String::new(), schema: serde_json::Value::Null }];
    let mut reader = (http.reader)(&tools);
    let mut pieces = pieces.into_iter();
    let read = pieces
        .try_for_each(|piece| reader.read(piece, &mut events))
        .and_then(|()| reader.finish(&mut events));
    (events.into(), read.err().map(|error| error.chain()))
}
