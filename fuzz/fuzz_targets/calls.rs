//! The JSON objects in what a model said: each is an object, and words are never empty.
#![no_main]

use lepo_tool::{Piece, pieces};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|answer: &str| {
    let found = pieces(answer);
    for piece in &found {
        match piece {
            Piece::Object(object) => assert!(object.is_object()),
            Piece::Prose(text) => assert!(!text.trim().is_empty() && text.len() <= answer.len()),
        }
    }
    // An object by itself is found again.
    for piece in found {
        if let Piece::Object(object) = piece {
            assert_eq!(pieces(&object.to_string()), [Piece::Object(object)]);
        }
    }
});
