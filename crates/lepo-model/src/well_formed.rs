//! Repairs JSON from servers that is not quite valid: a text cut inside a character (bytes that are not UTF-8, or the
//! escape of half a surrogate pair), raw line breaks, several values together. An answer must not be lost for a
//! character.

use std::borrow::Cow;

use serde_json::Value;

use lepo_base::loose_json::repaired;

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

/// Replaces invalid UTF-8 and half surrogate pairs by U+FFFD; `None` if the text has neither.
fn well_formed(json: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(json);
    let mut changed = matches!(text, Cow::Owned(_));
    let mut whole = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some((before, escape)) = rest.split_once('\\') {
        whole.push_str(before);
        whole.push('\\');
        // Skips the character after a backslash, which may be a backslash itself.
        let pair = half(escape).filter(|unit| (0xd800..0xdc00).contains(unit)).is_some()
            && escape
                .get(5..)
                .and_then(|next| half(next.strip_prefix('\\')?))
                .is_some_and(|unit| unit >= 0xdc00);
        let length = match half(escape) {
            Some(_) if pair => 11,
            Some(_) => {
                changed = true;
                whole.push_str("ufffd");
                rest = escape.get(5..).unwrap_or_default();
                continue;
            }
            None => escape.chars().next().map_or(0, char::len_utf8),
        };
        let (taken, after) = escape.split_at(length);
        whole.push_str(taken);
        rest = after;
    }
    whole.push_str(rest);
    changed.then(|| whole.into_bytes())
}

/// Returns the surrogate of an escape, given without its backslash.
fn half(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix('u')?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| (0xd800..0xe000).contains(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_character_is_replaced() {
        for (json, expected) in [
            (&br#"{"t":"a\ud83d"}"#[..], Some(r#"{"t":"a\ufffd"}"#)),
            (br#"{"t":"\ude00b\ud83d\ud83d\ude00"}"#, Some(r#"{"t":"\ufffdb\ufffd\ud83d\ude00"}"#)),
            (br#"{"t":"\ud83dx\ud83d\n"}"#, Some(r#"{"t":"\ufffdx\ufffd\n"}"#)),
            (b"{\"t\":\"a\xffb\"}", Some("{\"t\":\"a\u{fffd}b\"}")),
            (br#"{"t":"\ud83d\ude00 \\ud83d \\\" \u00e9"}"#, None),
            ("{\"t\":\"\\안\"}".as_bytes(), None),
            (br#"\"#, None),
            (br"\ud83", None),
            (b"", None),
        ] {
            let found = well_formed(json).map(|json| String::from_utf8(json).unwrap());
            assert_eq!(found.as_deref(), expected, "{}", String::from_utf8_lossy(json));
        }
    }

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
