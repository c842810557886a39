//! The entry of the fuzz targets: reads an answer from given bytes.

use super::event::{Event, Events};
use super::{anthropic, ollama, openai, responses};

/// The API that the bytes belong to.
#[derive(Debug, Clone, Copy)]
pub enum StreamForm {
    /// Chat completions: server-sent events.
    Openai,
    /// A JSON object a line.
    Ollama,
    /// The Messages API: server-sent events.
    Anthropic,
    /// The Responses API: server-sent events.
    Responses,
}

/// The events of an answer whose bytes come in these pieces, text joined; and how it failed, if it did.
pub fn read_pieces<'b>(
    form: StreamForm,
    pieces: impl IntoIterator<Item = &'b [u8]>,
) -> (Vec<Event>, Option<String>) {
    let mut events = Events::new();
    let spec = match form {
        StreamForm::Openai => &openai::SPEC,
        StreamForm::Ollama => &ollama::SPEC,
        StreamForm::Anthropic => &anthropic::SPEC,
        StreamForm::Responses => &responses::SPEC,
    };
    let Some(http) = spec.http else { return (Vec::new(), None) };
    let mut reader = (http.reader)(true);
    let mut pieces = pieces.into_iter();
    let read =
        pieces.try_for_each(|piece| reader.read(piece, &mut events)).and_then(|()| reader.end(&mut events));
    (events.into(), read.err().map(|error| error.chain()))
}
