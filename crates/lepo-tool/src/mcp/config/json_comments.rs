//! JSON as people and other programs write it in configuration files: with comments, and a comma after the last entry.

/// Blanks out comments, and commas before `}` or `]`. The length and the line breaks stay, so that an error has the right
/// line and column.
pub fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut bare = text.to_vec();
    if let Some(mark) = bare.get_mut(..3).filter(|start| **start == *b"\xEF\xBB\xBF") {
        // A byte order mark is not part of JSON.
        mark.fill(b' ');
    }
    // The crate ends a comment at `\n` only; the old kind of line end is `\r` alone.
    bare.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
    // The result is about readers; a text in memory has no faults of theirs.
    let _ = json_strip_comments::strip_slice(&mut bare);
    for (byte, written) in bare.iter_mut().zip(text) {
        if matches!(written, b'\n' | b'\r') {
            *byte = *written;
        }
    }
    bare
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
            ("[,]", Some("[]")),
            ("{,}", Some("{}")),
            ("[1,,2]", None),
            ("{\"a\":,}", None),
            ("{\"a\": 1} /* no end", Some("{\"a\":1}")),
            ("{\"a\": 1} /", Some("{\"a\":1}")),
            ("{\"a\": 1 /* no end }", None),
            ("{\"a\": 1 # no }", None),
            ("{\"a\": 1 # a\n}", Some("{\"a\":1}")),
            ("{// a\r\"a\": 1, // b\r\n}\r", Some("{\"a\":1}")),
            ("\u{feff}{\"a\": 1}", Some("{\"a\":1}")),
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
