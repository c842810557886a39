//! An answer of the Anthropic wire: whatever pieces its bytes come in, it is the same answer.
#![no_main]

use lepo_model::{StreamFormat, read_pieces};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (size, bytes) = (input.0 as usize + 1, input.1);
    let whole = read_pieces(StreamFormat::Anthropic, [bytes]);
    assert_eq!(whole, read_pieces(StreamFormat::Anthropic, bytes.chunks(size)));
});
