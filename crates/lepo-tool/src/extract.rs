//! Finds JSON objects in a model's answer: alone, fenced, or within prose. `<think>` blocks are ignored.

use serde_json::Value;

use super::lenient_json;

const THINK: &str = "<think>";

const THOUGHT: &str = "</think>";

const FENCE: &str = "```";

/// How often a byte of an answer may be scanned, on average, for the ends of objects that are not JSON.
const LOOKS: usize = 16;

/// Bytes that may be scanned for them in any answer, however short.
const LEAST_BUDGET: usize = 1 << 20;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerPart {
    /// Text, without the fence around an object.
    Prose(String),
    /// An object within the text.
    Object(Value),
}

/// Splits an answer into pieces, in order. An object that is not valid JSON stays prose; a tag inside an object is part
/// of its text.
pub fn split_answer(answer: &str) -> Vec<AnswerPart> {
    let (mut pieces, mut prose, mut rest) = (Vec::new(), String::new(), answer);
    // Whether a block of thinking has been found.
    let mut thought = false;
    // Whether the position is within the fence around an object.
    let mut fenced = false;
    let mut budget = answer.len().saturating_mul(LOOKS).max(LEAST_BUDGET);
    while let Some(at) = rest.find(['{', '<']) {
        let (before, from) = rest.split_at(at);
        prose.push_str(before);
        if let Some(thinking) = from.strip_prefix(THINK) {
            thought = true;
            rest = thinking.split_once(THOUGHT).map_or("", |(_, after)| after);
        } else if let Some(after) = from.strip_prefix(THOUGHT)
            && (!thought || pieces.is_empty() && prose.trim().is_empty())
        {
            // Some servers drop the opening tag.
            thought = true;
            pieces.clear();
            prose.clear();
            rest = after;
        } else if let Some((object, after)) = lenient_json::object(from, &mut budget) {
            if let Some(before) = before_fence(&prose).filter(|_| !fenced) {
                fenced = true;
                prose.truncate(before);
            }
            push_prose(&mut pieces, &std::mem::take(&mut prose));
            pieces.push(AnswerPart::Object(object));
            rest = after;
            if let Some(behind) = after.trim_start().strip_prefix(FENCE).filter(|_| fenced) {
                fenced = false;
                rest = behind.trim_start_matches('`');
            }
        } else {
            let (sign, after) = from.split_at(1);
            prose.push_str(sign);
            rest = after;
        }
    }
    prose.push_str(rest);
    push_prose(&mut pieces, &prose);
    pieces
}

/// Returns the objects that `read` accepts, in order, and the prose around all objects.
pub fn find_objects<T>(answer: &str, read: impl Fn(&Value) -> Option<T>) -> (Vec<T>, String) {
    let (mut found, mut words) = (Vec::new(), Vec::new());
    for piece in split_answer(answer) {
        match piece {
            AnswerPart::Object(object) => found.extend(read(&object)),
            AnswerPart::Prose(text) => words.push(text),
        }
    }
    (found, words.join("\n\n"))
}

/// Returns the length of `prose` without the fence that opens at its end around an object; `None` without such a fence.
fn before_fence(prose: &str) -> Option<usize> {
    let (before, language) = prose.rsplit_once(FENCE)?;
    let is_word = language.trim().chars().all(|c| c.is_alphanumeric() || "-_+.".contains(c));
    // After an odd number of fences, this one closes another.
    let opens = before.matches(FENCE).count() % 2 == 0;
    (is_word && opens).then(|| before.trim_end_matches('`').len())
}

fn push_prose(pieces: &mut Vec<AnswerPart>, prose: &str) {
    let text = prose.trim();
    // Objects may be items of a list.
    let is_list = text.chars().all(|c| c.is_whitespace() || matches!(c, '[' | ']' | ','));
    if !is_list {
        pieces.push(AnswerPart::Prose(text.to_string()));
    }
}

/// Removes `<think>…</think>`; an unterminated block extends to the end.
pub fn without_thinking(answer: &str) -> String {
    let (mut kept, mut rest) = (String::new(), answer);
    while let Some((before, after)) = rest.split_once(THINK) {
        kept.push_str(before);
        rest = after.split_once(THOUGHT).map_or("", |(_, after)| after);
    }
    // Some servers drop the opening tag.
    match rest.split_once(THOUGHT) {
        Some((_, after)) if kept.trim().is_empty() => kept.push_str(after),
        _ => kept.push_str(rest),
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn many_braces_are_looked_at_so_many_times_and_no_oftener() {
        for (many, behind) in [("{", ""), ("{\"a\":", ""), ("{a", "}"), ("```{", "")] {
            let text = format!("{}{} {{\"tool\":\"none\"}}", many.repeat(20_000), behind.repeat(20_000));
            assert_eq!(
                split_answer(&text).last(),
                Some(&AnswerPart::Object(json!({"tool": "none"}))),
                "{many}"
            );
        }
    }

    #[test]
    fn objects_are_found_wherever_they_stand() {
        let object = || AnswerPart::Object(json!({"tool": "none"}));
        let prose = |text: &str| AnswerPart::Prose(text.to_string());
        for (answer, expected) in [
            (r#"{"tool":"none"}"#, vec![object()]),
            ("```json\n{\"tool\": \"none\"}\n```", vec![object()]),
            (
                "I think\n\n```\n{\"tool\":\"none\"}\n```\nis right.",
                vec![prose("I think"), object(), prose("is right.")],
            ),
            ("So ```json {\"tool\":\"none\"} ``` bye", vec![prose("So"), object(), prose("bye")]),
            (
                "````json\n{\"tool\":\"none\"}\n{\"tool\":\"none\"}\n````\nbye",
                vec![object(), object(), prose("bye")],
            ),
            (
                "```sh\nls\n``` {\"tool\":\"none\"}\n```\nx\n```",
                vec![prose("```sh\nls\n```"), object(), prose("```\nx\n```")],
            ),
            (r#"Well, {"tool":"none"} then."#, vec![prose("Well,"), object(), prose("then.")]),
            (r#"{"tool":"none"}{"tool":"none"}"#, vec![object(), object()]),
            (r#"<think>{"tool":"command"}</think>{"tool":"none"}"#, vec![object()]),
            (r#"hm {"tool":"command"}</think>{"tool":"none"}"#, vec![object()]),
            ("<think>never ends {\"tool\":\"none\"}", vec![]),
            (r#"Well, {"tool":"none",} then."#, vec![prose("Well,"), object(), prose("then.")]),
            ("a { b } c", vec![prose("a { b } c")]),
            // A tag inside an object is part of its text.
            (r#"{"text":"</think>"}"#, vec![AnswerPart::Object(json!({"text": "</think>"}))]),
            (r#"ok {"text":"<think>"}"#, vec![prose("ok"), AnswerPart::Object(json!({"text": "<think>"}))]),
            (r#"<think>a</think>{"t":"</think>"}"#, vec![AnswerPart::Object(json!({"t": "</think>"}))]),
            ("<think>a</think>ok </think>", vec![prose("ok </think>")]),
            ("a < b", vec![prose("a < b")]),
            (r#"{"a": {"tool":"none"}"#, vec![prose(r#"{"a":"#), object()]),
            ("", vec![]),
        ] {
            assert_eq!(split_answer(answer), expected, "{answer}");
        }
    }

    #[test]
    fn all_that_fit_and_the_words_around() {
        let read = |value: &Value| value.get("n")?.as_u64();
        let answer = r#"so {"x":1} or {"n":2} and {"n":3} ok"#;
        assert_eq!(find_objects(answer, read), (vec![2, 3], "so\n\nor\n\nand\n\nok".to_string()));
        assert!(find_objects("nothing", read).0.is_empty());
    }
}
