//! Replaces invalid characters in JSON: bytes that are not UTF-8, and the escape of half a surrogate pair, which programs
//! leave where they cut a text inside a character.

use std::borrow::Cow;

/// Replaces invalid UTF-8 and half surrogate pairs by U+FFFD; `None` if the text has neither.
pub fn well_formed(json: &[u8]) -> Option<Vec<u8>> {
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
}
