//! Text that came on a wire is never lost: whatever is between the pieces of an answer, the pieces before it are there,
//! and where the answer does not fail those behind it too.
#![no_main]

use lepo_model::{StreamFormat, read_pieces, text_between};
use libfuzzer_sys::fuzz_target;

const FORMS: [StreamFormat; 4] =
    [StreamFormat::Openai, StreamFormat::Ollama, StreamFormat::Anthropic, StreamFormat::Responses];

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (form, size, between) = (FORMS[input.0 as usize % 4], input.1 as usize + 1, input.2);
    let (before, behind) = text_between(form);
    let stream = [before.as_bytes(), between, b"\n\n", behind.as_bytes()].concat();
    let (events, failed) = read_pieces(form, stream.chunks(size));
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            lepo_model::ChatEvent::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert!(text.starts_with("one"), "{text:?} {failed:?}");
    let is_ended = events.iter().any(|event| matches!(event, lepo_model::ChatEvent::Done(_)));
    assert!(failed.is_some() || is_ended);
});
