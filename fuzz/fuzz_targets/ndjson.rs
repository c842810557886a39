//! An answer of Ollama's wire: whatever pieces its bytes come in, it is the same answer.
#![no_main]

use lepo_model::{StreamFormat, read_pieces};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (size, bytes) = (input.0 as usize + 1, input.1);
    let (whole, pieces) = (read_pieces(StreamFormat::Ollama, [bytes]), read_pieces(StreamFormat::Ollama, bytes.chunks(size)));
    assert_eq!(whole, pieces);
});
