//! Shortens the text of a server or a program to one line for an error message, and hides the key in it.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Value;

use lepo_base::error::{Error, message_in_body, message_in_error};
use lepo_base::secret::Secret;

/// Returns the first 200 characters of `bytes`, with white space and control characters folded to single spaces.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty());
    let mut line = String::new();
    let mut length = 0;
    for word in words {
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        for c in word.chars() {
            if length >= 200 {
                line.push('…');
                return line;
            }
            line.push(c);
            length += 1;
        }
    }
    line
}

/// Returns an excerpt of the error message in a body, whatever its field; `None` if it has none.
pub(super) fn message_excerpt(body: &[u8]) -> Option<String> {
    let message = message_in_body(&String::from_utf8_lossy(body))?;
    // Gateways wrap a page in an object, and an object in an event.
    let inner = message_in_body(&message).unwrap_or(message);
    Some(excerpt(inner.as_bytes()))
}

/// Returns an excerpt of the error message in a body, or else of the body itself.
pub(super) fn message_or_excerpt(body: &[u8]) -> String {
    message_excerpt(body).unwrap_or_else(|| excerpt(body))
}

/// Returns an excerpt of the message in an error object.
pub(super) fn error_excerpt(error: &Value) -> Option<String> {
    message_in_error(error).map(|message| message_or_excerpt(message.as_bytes()))
}

/// Whether this is valid JSON up to a premature end, as in a truncated answer.
pub(super) fn is_truncated(json: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(json).is_err_and(|error| error.is_eof())
}

/// Removes the key from an error, in case a server repeats it.
pub(super) fn without_key(mut error: Error, key: Option<&Secret>) -> Error {
    error.message = hide_key(&error.message, key).into_owned();
    if let Some(hint) = &mut error.hint {
        hint.map_words(|words| hide_key(words, key).into_owned());
    }
    error
}

pub(super) fn hide_key<'t>(text: &'t str, key: Option<&Secret>) -> Cow<'t, str> {
    key.map_or(Cow::Borrowed(text), |key| key.hide_in(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::hint::HintTarget;

    #[test]
    fn excerpts_are_short_lines() {
        for (bytes, expected) in [
            ("a\r\n  b\tc".as_bytes(), "a b c".to_owned()),
            (b"\x1b[31mred\x07", "[31mred".to_owned()),
            (b"\xff\xfe", "\u{fffd}\u{fffd}".to_owned()),
            ("가".repeat(300).as_bytes(), "가".repeat(200) + "…"),
            (b"", String::new()),
        ] {
            assert_eq!(excerpt(bytes), expected);
        }
    }

    #[test]
    fn complaints_are_found_wherever_they_stand() {
        for (body, expected) in [
            (r#"{"error":{"message":"no such model","code":404}}"#, Some("no such model")),
            (r#"{"error":"model 'x' not found"}"#, Some("model 'x' not found")),
            (r#"[{"error":{"message":"Gemini wraps it"}}]"#, Some("Gemini wraps it")),
            (r#"{"object":"error","message":"vLLM"}"#, Some("vLLM")),
            (r#"{"detail":[{"msg":"FastAPI"}]}"#, Some("FastAPI")),
            ("data: {\"error\":{\"message\":\"in an event\"}}\n\n", Some("in an event")),
            ("<html><h1>Bad Gateway</h1></html>", Some("Bad Gateway")),
            (r#"{"error":{"message":"<html><h1>Bad Gateway</h1></html>"}}"#, Some("Bad Gateway")),
            ("no page", None),
            ("{}", None),
        ] {
            assert_eq!(message_excerpt(body.as_bytes()).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn a_repeated_key_is_hidden() {
        for (key, text, hidden) in [
            ("sk-12345", "bad key sk-12345", "bad key [secret]"),
            // A short value may be an ordinary word.
            ("none", "none of the models is there", "none of the models is there"),
            ("sk-1234", "bad key sk-1234", "bad key sk-1234"),
            ("", "bad key", "bad key"),
            // Shortened, by the server or by the excerpt.
            ("sk-abcdefghijklmnopqrstuvwxyz", "bad key sk-abcdefghijklmnopqrs…", "bad key [secret]…"),
            (
                "sk-abcdefghijklmnopqrstuvwxyz",
                "bad key sk-abcdefghijklmno*****xyz",
                "bad key [secret]*****xyz",
            ),
            ("sk-abcdefghijklmnopqrstuvwxyz", "keys begin with sk-abc", "keys begin with sk-abc"),
            ("열쇠열쇠열쇠열쇠열쇠", "열쇠열쇠열쇠열쇠열쇠 열쇠", "[secret] 열쇠"),
        ] {
            let error = without_key(Error::remote(text).hint(text), Some(&Secret::new(key)));
            assert_eq!(
                (&*error.message, error.hint_for(HintTarget::SHELL).as_deref()),
                (hidden, Some(hidden)),
                "{key}"
            );
        }
        assert_eq!(without_key(Error::remote("a"), None).message, "a");
    }
}
