//! Arguments of a call: assembled from pieces, and parsed leniently.

use serde_json::{Map, Value};

use lepo_base::loose_json::repaired;

/// From this size in bytes, a piece that contains the previous piece is certainly the complete text so far.
const SURELY_WHOLE: usize = 64;

/// The text of arguments, with the boundary of its last piece.
#[derive(Debug, Default)]
pub(super) struct ArgumentText {
    joined: String,
    /// The offset of the last piece.
    last: usize,
    pieces: usize,
    /// Whether each piece so far starts with the piece before it.
    grows: bool,
}

impl ArgumentText {
    /// Appends a piece; some servers send the complete text so far in each.
    pub fn add(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.grows = self.pieces == 0 || self.grows && piece.starts_with(self.last_piece());
        self.pieces += 1;
        if self.grows && self.pieces > 2 && self.last_piece().len() >= SURELY_WHOLE {
            self.joined.clear();
        }
        self.last = self.joined.len();
        self.joined.push_str(piece);
    }

    /// Replaces the pieces so far by `text`.
    pub fn replace(&mut self, text: &str) {
        *self = ArgumentText::default();
        self.add(text);
    }

    pub fn is_empty(&self) -> bool {
        self.joined.is_empty()
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.joined.len()
    }

    /// Whether the text is a complete object.
    pub fn is_whole(&self) -> bool {
        self.joined.trim_end().ends_with('}')
            && matches!(serde_json::from_str(&self.joined), Ok(Value::Object(_)))
    }

    fn last_piece(&self) -> &str {
        self.joined.get(self.last..).unwrap_or_default()
    }

    /// Parses the arguments; returns a string if they are not JSON.
    pub fn value(&self) -> Value {
        let read = read_arguments(&self.joined);
        if read.is_object() {
            return read;
        }
        let before = self.joined.get(..self.last).unwrap_or_default();
        if self.pieces > 1 && (self.grows || self.last_piece().starts_with(before)) {
            let last = read_arguments(self.last_piece());
            if last.is_object() {
                return last;
            }
        }
        read
    }

    /// Returns the arguments as text for a request: verbatim if they are valid.
    pub fn text(&self) -> String {
        match serde_json::from_str(&self.joined) {
            Ok(Value::Object(_)) => self.joined.clone(),
            _ => match self.value() {
                Value::String(text) => text,
                value => value.to_string(),
            },
        }
    }
}

/// Parses arguments as a model wrote them: an empty text means no arguments, and other text that is not JSON is a
/// string.
pub(super) fn read_arguments(text: &str) -> Value {
    let bare = text.trim_start_matches('\u{feff}').trim();
    if matches!(bare, "" | "null" | "None" | "undefined") {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(bare) {
        Ok(Value::Null) => return Value::Object(Map::new()),
        // JSON within JSON.
        Ok(Value::String(inner)) => {
            return match serde_json::from_str(inner.trim()) {
                Ok(object @ Value::Object(_)) => object,
                _ => Value::String(text.to_owned()),
            };
        }
        Ok(value) => return value,
        Err(_) => {}
    }
    let object = one_object(bare).or_else(|| begun_twice(bare)).or_else(|| one_object(&repaired(bare)?));
    object.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Returns the only object of a text, ignoring a fence around it, template marks after it, an empty object before
/// it, or a repetition of it.
fn one_object(text: &str) -> Option<Value> {
    let mut rest = unfenced(text);
    let mut found: Option<Value> = None;
    while !is_tail(rest) {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = values.next()?.ok().filter(Value::is_object)?;
        rest = rest.get(values.byte_offset()..)?.trim_start();
        let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
        match &found {
            Some(before) if is_empty(before) => found = Some(value),
            Some(before) if *before == value || is_empty(&value) => {}
            Some(_) => return None,
            None => found = Some(value),
        }
    }
    found
}

/// Most offsets at which the second beginning of arguments is searched.
const MOST_BEGINNINGS: usize = 100;

/// Returns the object of a text that begins with a part of the object.
fn begun_twice(text: &str) -> Option<Value> {
    let starts = text.match_indices('{').map(|(at, _)| at).skip(1).take(MOST_BEGINNINGS);
    starts.filter_map(|at| text.split_at_checked(at)).find_map(|(part, whole)| {
        let object = whole.starts_with(part).then(|| serde_json::from_str::<Value>(whole).ok());
        object.flatten().filter(Value::is_object)
    })
}

fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```") else { return text };
    inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim_start()
}

/// Whether this may follow an object: nothing, the end of a fence, a mark of the model's template.
fn is_tail(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || ["```", "</", "<|", "[/", "<tool"].iter().any(|mark| rest.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_json_or_the_text_itself() {
        let a = json!({"a": 1});
        for (text, expected) in [
            (r#"{"a":1}"#, a.clone()),
            ("", json!({})),
            (" \n", json!({})),
            ("null", json!({})),
            ("\u{feff}{\"a\":1}", a.clone()),
            (r#"{"a":"#, json!(r#"{"a":"#)),
            ("ls -l", json!("ls -l")),
            (r#""{\"a\":1}""#, a.clone()),
            (r#"{}{"a":1}"#, a.clone()),
            (r#"{"a":1}{"a":1}"#, a.clone()),
            (r#"{"a":1}{}"#, a.clone()),
            (r#"{"a":1}{"a":2}"#, json!(r#"{"a":1}{"a":2}"#)),
            // https://github.com/sgl-project/sglang/issues/23071
            (r#"{"a": "x"{"a": "x", "b": 1}"#, json!({"a": "x", "b": 1})),
            (r#"{"a": "x"{"a": "y", "b": 1}"#, json!(r#"{"a": "x"{"a": "y", "b": 1}"#)),
            ("```json\n{\"a\":1}\n```", a.clone()),
            ("```\n{\"a\":1}```", a.clone()),
            ("{\"a\":1}\n</tool_call>", a.clone()),
            ("{\"a\":1}<|im_end|>", a.clone()),
            ("{\"a\":1} and more", json!("{\"a\":1} and more")),
            ("{\"a\":\"x\ny\"}", json!({"a": "x\ny"})),
            ("{\"a\":\"x\ty\",}", json!({"a": "x\ty"})),
            (r#"{"a":"\d"}"#, json!({"a": "\\d"})),
            // A mark within a string is data.
            (r#"{"a":"</tool_call><|x|>```"}"#, json!({"a": "</tool_call><|x|>```"})),
            ("[1]", json!([1])),
        ] {
            assert_eq!(read_arguments(text), expected, "{text}");
        }
    }

    #[test]
    fn pieces_become_arguments_however_they_are_told() {
        let expected = json!({"command": "ls", "why": "{}"});
        let whole = expected.to_string();
        let cut = |ends: &[usize]| -> Vec<String> {
            let mut from = 0;
            ends.iter()
                .map(|&end| whole.get(std::mem::replace(&mut from, end)..end).unwrap().to_owned())
                .collect()
        };
        let all = whole.len();
        let deltas = cut(&[1, 2, 9, 20, all]);
        let so_far: Vec<String> =
            [1, 2, 9, 20, all].iter().map(|&end| whole.split_at(end).0.to_owned()).collect();
        let again = [deltas.clone(), vec![whole.clone()]].concat();
        let twice = [so_far.clone(), vec![whole.clone()]].concat();
        let empty_first = [vec!["{}".to_owned()], deltas.clone()].concat();
        let blank_last = [deltas.clone(), vec![" \n".to_owned()]].concat();
        for pieces in [deltas, so_far, again, twice, empty_first, blank_last, vec![whole.clone()]] {
            let mut text = ArgumentText::default();
            pieces.iter().for_each(|piece| text.add(piece));
            assert_eq!(text.value(), expected, "{pieces:?}");
            let sent: Value = serde_json::from_str(&text.text()).unwrap();
            assert_eq!(sent, expected, "{pieces:?}");
        }
        // A piece that starts like the complete text is still a piece.
        let mut text = ArgumentText::default();
        [r#"{"a":"#, r#"{"a":1}}"#].iter().for_each(|piece| text.add(piece));
        assert_eq!(text.value(), json!({"a": {"a": 1}}));
        // Truncated arguments are never completed.
        let mut text = ArgumentText::default();
        [r#"{"command":"rm -r x"#, r#"/y"#].iter().for_each(|piece| text.add(piece));
        assert_eq!(text.value(), json!(r#"{"command":"rm -r x/y"#));
    }

    #[test]
    fn text_that_is_told_whole_each_time_is_held_once() {
        let mut text = ArgumentText::default();
        let whole = json!({"text": "x".repeat(4000)}).to_string();
        (1..=whole.len()).for_each(|end| text.add(whole.split_at(end).0));
        assert!(text.len() < 3 * whole.len(), "{}", text.len());
        assert!(text.value().is_object());
    }
}
