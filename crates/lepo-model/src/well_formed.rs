//! Repairs JSON from servers that is not quite valid: a text cut inside a character (bytes that are not UTF-8, or the
//! escape of half a surrogate pair), raw line breaks, several values together. An answer must not be lost for a
//! character.

use serde_json::Value;

use lepo_base::loose_json::repaired;
use lepo_base::well_formed::well_formed;

/// Returns the consecutive objects, lists and strings in the data; empty if no repair makes it JSON.
pub(super) fn values_in(data: &[u8]) -> Vec<Value> {
    let text = match well_formed(data) {
        Some(whole) => String::from_utf8_lossy(&whole).into_owned(),
        None => String::from_utf8_lossy(data).into_owned(),
    };
    match each_value(&text) {
        Some(values) => values,
        None => repaired(&text).and_then(|text| each_value(&text)).unwrap_or_default(),
    }
}

/// Returns the values of a text, ignoring the framing of events; `None` if it contains anything else.
fn each_value(text: &str) -> Option<Vec<Value>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        for around in ["data:", "[DONE]"] {
            rest = rest.strip_prefix(around).unwrap_or(rest).trim_start();
        }
        if rest.is_empty() {
            return Some(found);
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        rest = rest.get(values.byte_offset()..)?;
        if matches!(value, Value::Object(_) | Value::Array(_) | Value::String(_)) {
            found.push(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_one_behind_the_other() {
        use serde_json::json;
        for (data, expected) in [
            (&br#"{"a":1}"#[..], vec![json!({"a": 1})]),
            (b"{\"a\":1}{\"b\":2}", vec![json!({"a": 1}), json!({"b": 2})]),
            (b"{\"a\":1}\n{\"b\":2}\n[DONE]", vec![json!({"a": 1}), json!({"b": 2})]),
            (b"{\"a\":1}data: {\"b\":2}\n\ndata: [DONE]\n\n", vec![json!({"a": 1}), json!({"b": 2})]),
            (b"{\"a\":\"x\ny\",\"b\":NaN}", vec![json!({"a": "x\ny", "b": null})]),
            (b"{\"a\":\"\xff\"}", vec![json!({"a": "\u{fffd}"})]),
            (b"null", vec![]),
            (b"ping", vec![]),
            (b"2024-04-07 20:20:50.554328", vec![]),
            (b"{\"a\":1} and more", vec![]),
            (b"{\"a\":", vec![]),
            (b"", vec![]),
        ] {
            assert_eq!(values_in(data), expected, "{}", String::from_utf8_lossy(data));
        }
    }
}
