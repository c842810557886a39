//! The JSON objects in what a model said: each is an object, and words are never empty.
#![no_main]

use lepo_tool::{AnswerPart, split_answer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|answer: &str| {
    let found = split_answer(answer);
    for piece in &found {
        match piece {
            AnswerPart::Object(object) => assert!(object.is_object()),
            AnswerPart::Prose(text) => assert!(!text.trim().is_empty() && text.len() <= answer.len()),
        }
    }
    // An object by itself is found again.
    for piece in found {
        if let AnswerPart::Object(object) = piece {
            assert_eq!(split_answer(&object.to_string()), [AnswerPart::Object(object)]);
        }
    }
});
