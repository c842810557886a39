//! JSON as models write it: a comma before the end of an object or an array is ignored.

use serde_json::Value;

/// Parses JSON that may have trailing commas.
pub fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&without_trailing_commas(text)?).ok())
}

/// Parses the object at the start of a text; also returns the rest. `budget` is the number of bytes that may be scanned
/// for the ends of objects that are not JSON: in a text of many braces, each scan would run to the end.
pub fn object<'t>(text: &'t str, budget: &mut usize) -> Option<(Value, &'t str)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(value)) = stream.next() {
        return value.is_object().then(|| (value, text.split_at(stream.byte_offset()).1));
    }
    let (object, rest) = text.split_at(end(text, budget)?);
    let value: Value = serde_json::from_str(&without_trailing_commas(object)?).ok()?;
    value.is_object().then_some((value, rest))
}

/// Returns the offset after the braces at the start of a text are closed.
fn end(text: &str, budget: &mut usize) -> Option<usize> {
    let mut depth = 0;
    let mut scan = QuoteScanner::default();
    for (at, c) in text.char_indices() {
        *budget = budget.checked_sub(c.len_utf8())?;
        if scan.is_within_text(c) {
            continue;
        }
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + c.len_utf8());
        }
    }
    None
}

fn without_trailing_commas(text: &str) -> Option<String> {
    let mut scan = QuoteScanner::default();
    let (mut kept, mut comma) = (String::with_capacity(text.len()), None);
    for c in text.chars() {
        if !scan.is_within_text(c) && !c.is_whitespace() {
            if let (Some(at), '}' | ']') = (comma, c) {
                kept.remove(at);
            }
            comma = (c == ',').then_some(kept.len());
        } else if !c.is_whitespace() {
            comma = None;
        }
        kept.push(c);
    }
    (kept.len() < text.len()).then_some(kept)
}

/// Recognises the inside of strings, including the quotes.
#[derive(Default)]
struct QuoteScanner {
    is_quoted: bool,
    escaped: bool,
}

impl QuoteScanner {
    fn is_within_text(&mut self, c: char) -> bool {
        match c {
            _ if std::mem::take(&mut self.escaped) => true,
            '\\' if self.is_quoted => {
                self.escaped = true;
                true
            }
            '"' => {
                self.is_quoted = !self.is_quoted;
                true
            }
            _ => self.is_quoted,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn trailing_commas_do_not_count() {
        for (text, expected) in [
            (r#"{"a":1,}"#, Some(json!({"a": 1}))),
            ("{\"a\":[1,2, ],\n}", Some(json!({"a": [1, 2]}))),
            (r#"{"a":",}",}"#, Some(json!({"a": ",}"}))),
            (r#"{"a":"\",}",}"#, Some(json!({"a": "\",}"}))),
            (r#"{"a":1}"#, Some(json!({"a": 1}))),
            (r#"{"a":1,,}"#, None),
            ("{,}", Some(json!({}))),
            (r#"{"a":"#, None),
            ("ls, -l", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        let object = |text: &'static str, mut budget: usize| object(text, &mut budget);
        let (value, rest) = object(r#"{"a":{"b":1,},} and {}"#, 100).unwrap();
        assert_eq!((value, rest), (json!({"a": {"b": 1}}), " and {}"));
        assert_eq!(object(r#"{"a":{"b":1,},} and {}"#, 14), None);
        assert_eq!(object(r#"{"a":1} and"#, 0), Some((json!({"a": 1}), " and")));
        assert_eq!(object("{ b } c", 100), None);
        assert_eq!(object("[1,]", 100), None);
    }
}
