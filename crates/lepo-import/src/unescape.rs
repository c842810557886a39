//! The escapes of JSON strings. Half a surrogate pair becomes U+FFFD, and the other text remains.

use memchr::memchr;

/// Decodes the escapes of a string; `first` is the offset of the first one.
pub fn unescape(raw: &[u8], first: usize) -> String {
    let mut bytes = Vec::with_capacity(raw.len());
    let (mut rest, mut plain) = (raw, first);
    loop {
        bytes.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
        let Some(&escape) = rest.get(1) else { break };
        rest = &rest[2..];
        match escape {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'b' => bytes.push(8),
            b'f' => bytes.push(12),
            b'u' => {
                let letter = unit(&mut rest).map_or(char::REPLACEMENT_CHARACTER, |unit| match unit {
                    0xd800..=0xdbff => pair(unit, &mut rest),
                    _ => char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER),
                });
                bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => bytes.push(other),
        }
        plain = memchr(b'\\', rest).unwrap_or(rest.len());
    }
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Parses the four digits of `\uXXXX`.
fn unit(rest: &mut &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(rest.get(..4)?).ok()?;
    let unit = u32::from_str_radix(digits, 16).ok()?;
    *rest = &rest[4..];
    Some(unit)
}

/// Decodes a character from two units, if a low surrogate follows.
fn pair(high: u32, rest: &mut &[u8]) -> char {
    let mut after = *rest;
    if let Some(behind) = after.strip_prefix(b"\\u") {
        after = behind;
        if let Some(low @ 0xdc00..=0xdfff) = unit(&mut after) {
            *rest = after;
            let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
    }
    char::REPLACEMENT_CHARACTER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_is_replaced_and_the_rest_kept() {
        for (raw, read) in [
            (r"\ud83d", "\u{fffd}"),
            (r"a\ud83dx", "a\u{fffd}x"),
            (r"\ude00\ud83d\ude00", "\u{fffd}😀"),
            (r"\ud83d\n", "\u{fffd}\n"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
            (r"\uZZ", "\u{fffd}ZZ"),
            (r"\", ""),
        ] {
            let first = raw.bytes().position(|byte| byte == b'\\').unwrap();
            assert_eq!(unescape(raw.as_bytes(), first), read, "{raw}");
        }
    }
}
