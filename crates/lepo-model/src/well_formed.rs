//! JSON of servers that cut a text within a character: bytes that are not UTF-8, or the escape of half a
//! surrogate pair. No JSON reader takes these, and an answer must not be lost for one character.

use std::borrow::Cow;

use lepo_base::error::Result;

/// Gives `data` to `read`; if it is refused and is not well formed, once more with U+FFFD in place of what is not.
pub(super) fn read_well_formed(data: &[u8], mut read: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    match read(data) {
        Ok(()) => Ok(()),
        Err(error) => match well_formed(data) {
            Some(data) => read(&data),
            None => Err(error),
        },
    }
}

/// The JSON with U+FFFD in place of what is no character; `None` if there is nothing of that kind in it.
fn well_formed(json: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(json);
    let mut changed = matches!(text, Cow::Owned(_));
    let mut whole = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some((before, escape)) = rest.split_once('\\') {
        whole.push_str(before);
        whole.push('\\');
        // The character behind a backslash is not looked at again: it may be a backslash.
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

/// The surrogate that an escape is, behind its backslash.
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
    fn it_is_read_once_more_only_if_it_was_not_well_formed() {
        let refused = || Err(lepo_base::error::Error::remote("no"));
        for (json, times) in [(&b"{}"[..], 1), (b"\xff", 2)] {
            let mut read = 0;
            let done = read_well_formed(json, |_| {
                read += 1;
                refused()
            });
            assert_eq!((done.is_err(), read), (true, times));
        }
    }
}
