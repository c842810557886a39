//! Withholds streamed text that may be a tool call: an answer is displayed up to a `{` or a fence, and from
//! there only once it is certain that no call follows.

use lepo_tool::mcp::CallRequest;
use lepo_tool::{AnswerPart, lenient_json, split_answer};

/// Withholds text. After a call, the rest of the answer is not displayed.
#[derive(Debug, Default)]
pub struct CallFilter {
    buffer: String,
    /// Bytes of the buffer already displayed.
    released: usize,
    /// The state of scanning the object in the rest of the buffer.
    object: Option<ObjectScan>,
    has_called: bool,
}

/// Scans an object to its end, each character once.
#[derive(Debug)]
struct ObjectScan {
    start: usize,
    offset: usize,
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl CallFilter {
    /// Appends text, and returns the text that can be displayed now.
    pub fn push(&mut self, text: &str) -> String {
        let mut visible = String::new();
        self.buffer.push_str(text);
        while !self.has_called && self.step(&mut visible) {}
        if self.has_called {
            self.released = self.buffer.len();
        }
        self.buffer.drain(..self.released);
        self.released = 0;
        visible
    }

    /// Ends the answer: returns the remaining text, if no call was found.
    pub fn finish(self) -> String {
        if self.has_called { String::new() } else { self.buffer }
    }

    fn rest(&self) -> &str {
        self.buffer.get(self.released..).unwrap_or_default()
    }

    /// Moves text that certainly is not a call to `visible`; returns true if another step may move more.
    fn step(&mut self, visible: &mut String) -> bool {
        if self.object.is_some() {
            return self.read(visible);
        }
        let start = self.rest().find(['{', '`']).unwrap_or(self.rest().len());
        self.release(start, visible);
        let rest_text = self.rest();
        if rest_text.starts_with('{') {
            return self.start_object(0, visible);
        }
        match rest_text.strip_prefix("```") {
            Some(rest) => {
                let end = rest.find(['\n', '{']).filter(|at| *at < LONGEST_WAIT);
                if let Some(at) = end.filter(|at| rest.get(*at..).is_some_and(|from| from.starts_with('{'))) {
                    return self.start_object(3 + at, visible);
                }
                let Some((language, body)) = end.and_then(|at| rest.split_at_checked(at)) else {
                    return rest.len() >= LONGEST_WAIT && self.release(3, visible);
                };
                let (line, blank) = (3 + language.len(), blanks(body));
                match body.get(blank..).and_then(|text| text.chars().next()) {
                    _ if blank > LONGEST_WAIT => self.release(line + 1, visible),
                    None => false,
                    Some('{') => self.start_object(line + blank, visible),
                    Some(_) => self.release(line + 1, visible),
                }
            }
            // A backtick, or two, may become a fence.
            None if "```".starts_with(rest_text) => false,
            None => {
                let ticks = rest_text.len() - rest_text.trim_start_matches('`').len();
                self.release(ticks, visible)
            }
        }
    }

    /// Starts an object at `start`, if the next character can be a key.
    fn start_object(&mut self, start: usize, visible: &mut String) -> bool {
        let after = self.rest().get(start + 1..).unwrap_or_default();
        let blank = blanks(after);
        match after.get(blank..).and_then(|text| text.chars().next()) {
            _ if blank > LONGEST_WAIT => self.release(start + 1, visible),
            None => false,
            Some('"') => {
                self.object =
                    Some(ObjectScan { start, offset: start, depth: 0, in_text: false, escaped: false });
                true
            }
            Some(_) => self.release(start + 1, visible),
        }
    }

    /// Continues scanning the object, which at its end is either a call or displayed.
    fn read(&mut self, visible: &mut String) -> bool {
        let Some(object) = &mut self.object else { return false };
        let buffer = self.buffer.get(self.released..).unwrap_or_default();
        let Some(rest) = buffer.get(object.offset..) else { return false };
        for c in rest.chars() {
            object.offset += c.len_utf8();
            match c {
                _ if std::mem::take(&mut object.escaped) => {}
                '\\' if object.in_text => object.escaped = true,
                '"' => object.in_text = !object.in_text,
                '{' if !object.in_text => object.depth += 1,
                '}' if !object.in_text => object.depth -= 1,
                _ => {}
            }
            if object.depth == 0 {
                let end = object.offset;
                self.has_called = is_call(buffer.get(object.start..end).unwrap_or_default());
                self.object = None;
                return !self.has_called && self.release(end, visible);
            }
        }
        false
    }

    fn release(&mut self, to: usize, visible: &mut String) -> bool {
        let (now, rest) = self.rest().split_at_checked(to).unwrap_or_default();
        visible.push_str(now);
        let more = !rest.is_empty();
        self.released += to;
        more
    }
}

/// Maximum bytes of a fence's first line, or of blanks, before an object.
const LONGEST_WAIT: usize = 1000;

/// Counts the leading white space of a text in bytes.
fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

fn is_call(object: &str) -> bool {
    lenient_json(object).is_some_and(|value| call_in_text(&value).is_some())
}

/// Parses the call of an object in an answer: it has `server`, `name` and `arguments`. If the tool takes no
/// arguments, it has only the first two.
fn call_in_text(value: &serde_json::Value) -> Option<CallRequest> {
    if value.get("arguments").is_none() && value.as_object()?.len() != 2 {
        return None;
    }
    CallRequest::from_json(value)
}

/// The calls of an answer in order, and the text around them.
#[derive(Debug, Default, PartialEq)]
pub struct ParsedCalls {
    /// The whole text to store.
    pub text: String,
    /// The text after the first call, which a [`CallFilter`] withholds.
    pub text_after_call: String,
    pub calls: Vec<CallRequest>,
}

pub fn calls_in_text(answer: &str) -> ParsedCalls {
    let (mut texts, mut calls, mut before_call) = (Vec::new(), Vec::new(), 0);
    for piece in split_answer(answer) {
        match piece {
            AnswerPart::Prose(text) => texts.push(text),
            AnswerPart::Object(object) => match call_in_text(&object) {
                Some(call) => {
                    before_call = if calls.is_empty() { texts.len() } else { before_call };
                    calls.push(call);
                }
                None => texts.push(object.to_string()),
            },
        }
    }
    let text_after_call = texts.get(before_call..).unwrap_or_default().join("\n\n");
    ParsedCalls { text: texts.join("\n\n"), text_after_call, calls }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#"{"server":"s","name":"t","arguments":{"a":"}\""}}"#;

    /// Returns the text that is displayed immediately, and the text that is displayed at the end.
    fn filtered(answer: &str) -> (String, String) {
        let mut whole = CallFilter::default();
        let now = whole.push(answer);
        let rest = whole.finish();
        // Pieces of any size have the same result.
        for size in [1, 2, 3, 7] {
            let (mut filter, mut pieces) = (CallFilter::default(), String::new());
            let chars: Vec<char> = answer.chars().collect();
            for piece in chars.chunks(size) {
                pieces.push_str(&filter.push(&piece.iter().collect::<String>()));
            }
            assert_eq!((pieces, filter.finish()), (now.clone(), rest.clone()), "{answer} by {size}");
        }
        (now, rest)
    }

    #[test]
    fn nothing_is_waited_for_in_vain_and_nothing_is_looked_at_over_and_over() {
        let long = "x".repeat(LONGEST_WAIT);
        let blank = " ".repeat(LONGEST_WAIT + 1);
        for (answer, left) in [
            (format!("```{long}"), ""),
            (format!("```json\n{blank}"), ""),
            (format!("{{{blank}"), ""),
            (format!("{{{blank}\"a"), ""),
            (format!("```{long} {{\"a"), "{\"a"),
        ] {
            let now = answer.strip_suffix(left).unwrap();
            assert_eq!(filtered(&answer), (now.to_string(), left.to_string()));
        }
        let many = "{x`".repeat(300_000);
        let mut filter = CallFilter::default();
        assert_eq!(filter.push(&many) + &filter.finish(), many);
    }

    #[test]
    fn words_between_and_behind_calls_are_found() {
        for (answer, words, behind, calls) in [
            ("only words", "only words", "only words", 0),
            (CALL, "", "", 1),
            (&format!("before {CALL}"), "before", "", 1),
            (&format!("before {CALL} behind"), "before\n\nbehind", "behind", 1),
            (
                &format!("{CALL} between {CALL}\n{{\"x\":1}} 끝"),
                "between\n\n{\"x\":1}\n\n끝",
                "between\n\n{\"x\":1}\n\n끝",
                2,
            ),
            (&format!("So:\n```json\n{CALL}\n```\nbye"), "So:\n\nbye", "bye", 1),
        ] {
            let found = calls_in_text(answer);
            assert_eq!(
                (found.text.as_str(), found.text_after_call.as_str(), found.calls.len()),
                (words, behind, calls)
            );
        }
    }

    #[test]
    fn calls_are_not_shown_and_all_else_is() {
        for (answer, now, rest) in [
            ("plain 한글 text", "plain 한글 text", ""),
            (CALL, "", ""),
            (&format!("I look. {CALL} and more"), "I look. ", ""),
            (&format!("So:\n```json\n{CALL}\n```\n"), "So:\n", ""),
            (&format!("So ```json {CALL} ```\nbye"), "So ", ""),
            ("so ```rust fn x() {} ``` end", "so ```rust fn x() {} ", "``` end"),
            ("fn main() { run() }", "fn main() { run() }", ""),
            ("a {\"x\": 1} b", "a {\"x\": 1} b", ""),
            ("```rust\nfn x() {}\n```\nend", "```rust\nfn x() {}\n```\nend", ""),
            ("```json\n{\"x\": 1}\n```\nend", "```json\n{\"x\": 1}\n```\nend", ""),
            ("use `x` and ``y`` now", "use `x` and ``y`` now", ""),
            ("half {\"server\": \"s", "half ", "{\"server\": \"s"),
            ("open ```", "open ", "```"),
            ("open {", "open ", "{"),
            (
                "{} {\"server\":1,\"name\":2,\"arguments\":3}.",
                "{} {\"server\":1,\"name\":2,\"arguments\":3}.",
                "",
            ),
        ] {
            assert_eq!(filtered(answer), (now.to_string(), rest.to_string()), "{answer}");
        }
    }
}
