//! JSON as people and other programs write it in configuration files: with `//` and `/* */` comments, and a comma after
//! the last entry. These become blanks, so that an error has the right line and column.

use std::borrow::Cow;

/// Blanks out comments, and commas before `}` or `]`; the length in bytes stays. Strings are untouched, and so is a
/// comment without an end, which is not JSON.
pub fn without_comments(text: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Cow::Borrowed(text);
    let mut blank = |from: usize, to: usize| {
        let piece = out.to_mut().get_mut(from..to).unwrap_or_default();
        piece.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    };
    if text.starts_with(b"\xEF\xBB\xBF") {
        // A byte order mark is not part of JSON.
        blank(0, 3);
    }
    // The last comma, as long as only blanks and comments follow it.
    let (mut at, mut comma) = (0, None);
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        match byte {
            b'"' => {
                at += quoted(rest);
                comma = None;
                continue;
            }
            b'/' if rest.starts_with(b"//") => {
                let len = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
                blank(at, at + len);
                at += len;
                continue;
            }
            b'/' if rest.starts_with(b"/*") => {
                let Some(len) = rest.windows(2).skip(2).position(|two| two == b"*/").map(|at| at + 4) else {
                    break;
                };
                blank(at, at + len);
                at += len;
                continue;
            }
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    blank(comma, comma + 1);
                }
            }
            // A comma with no value before it stays, as an error.
            b',' if comma.is_none() && follows_value(text, at) => comma = Some(at),
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => comma = None,
        }
        at += 1;
    }
    out
}

/// Returns the length of the quoted string at the start of `text`.
fn quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Whether the last byte before `at` that is not white space can end a value.
fn follows_value(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().iter().rev();
    let last = before.copied().find(|byte| !byte.is_ascii_whitespace());
    last.is_some_and(|byte| !matches!(byte, b'{' | b'[' | b',' | b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_become_blanks() {
        for (text, expected) in [
            ("{\"a\": 1}", Some("{\"a\":1}")),
            ("// first\n{\"a\": 1} // last", Some("{\"a\":1}")),
            ("{/* a */\"a\"/**/:/***/1/* \n */}", Some("{\"a\":1}")),
            ("{\"a\": \"http://h/*x*/\\\" // no\"}", Some("{\"a\":\"http://h/*x*/\\\" // no\"}")),
            ("{\"a\": [1, 2, /* two */ ], // end\n }", Some("{\"a\":[1,2]}")),
            ("{\"a\": 1,\n// , \n}", Some("{\"a\":1}")),
            ("{\"한\": \"글\" /* 글 */}", Some("{\"한\":\"글\"}")),
            ("[1,,]", None),
            ("[,]", None),
            ("{,}", None),
            ("[1,,2]", None),
            ("{\"a\":,}", None),
            ("{\"a\": 1} /* no end", None),
            ("{\"a\": 1} /", None),
            ("{\"a\": 1 # no }", None),
            ("/*/ {}", None),
            ("\"no end", None),
            ("\"\\", None),
        ] {
            let bare = without_comments(text.as_bytes());
            assert_eq!(bare.len(), text.len());
            let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(lines(&bare), lines(text.as_bytes()), "{text}");
            let read = serde_json::from_slice::<serde_json::Value>(&bare).ok().map(|value| value.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_mistake_keeps_its_line() {
        let bare = without_comments(b"// one\n/* two\n three */ {\"a\": x}");
        let error = serde_json::from_slice::<serde_json::Value>(&bare).unwrap_err();
        assert_eq!((error.line(), error.column()), (3, 17));
    }
}
