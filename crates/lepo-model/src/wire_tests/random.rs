//! Random events between the pieces of an answer: nothing panics, the text before them is preserved, and reads may end
//! anywhere.

use super::{ALL, OLLAMA, answer, read};

/// Pieces from which events are built, on every wire.
const WORDS: &[&str] = &[
    "data: ",
    "event: error\n",
    "event: x\n",
    "\n",
    "\n\n",
    "\r",
    "\r\n\r\n",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "true",
    "-1.5",
    "NaN",
    "\\",
    "\\ud83d",
    "안",
    "\u{0}",
    "[DONE]",
    "data: [DONE]\n\n",
    "error: ",
    "<|x|>",
    "\"choices\":",
    "\"delta\":",
    "\"content\":",
    "\"tool_calls\":",
    "\"function\":",
    "\"arguments\":",
    "\"index\":0",
    "\"type\":",
    "\"content_block_delta\"",
    "\"content_block_start\"",
    "\"message_delta\"",
    "\"stop_reason\":\"end_turn\"",
    "\"response.output_item.added\"",
    "\"response.completed\"",
    "\"response\":",
    "\"item\":",
    "\"error\":",
    "\"message\":",
    "\"text\":",
    "\"thinking\":",
    "\"done\":true",
    "\"finish_reason\":\"stop\"",
    "\"name\":\"run\"",
    "\"x\"",
    "{}",
    "[]",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"run\",\"arguments\":\"{\"}}]}}]}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"run\"}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n",
    "data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\",\"id\":\"f\",\"name\":\"run\"}}\n\n",
    "data: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"f\",\"delta\":\"{}\"}\n\n",
    "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"run\"}}]}}\n",
];

/// A small random generator with a fixed sequence.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

#[test]
fn rubbish_between_the_pieces_of_an_answer_takes_no_text_away() {
    let mut numbers = Numbers(7);
    for round in 0..3000 {
        let wire = ALL[round % ALL.len()];
        let mut between = String::new();
        for _ in 0..numbers.below(14) {
            between.push_str(WORDS[numbers.below(WORDS.len())]);
        }
        between.push_str(if wire == OLLAMA { "\n" } else { "\n\n" });
        let received = read(wire, answer(wire, &between).as_bytes());
        assert!(received.starts_with("Fo"), "{wire} {between:?}: {received}");
        assert!(received.contains('!') || received.contains('.'), "{wire} {between:?}: {received}");
    }
}
