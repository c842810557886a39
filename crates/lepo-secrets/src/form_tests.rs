//! Tests each kind in the spellings of programs: strings in strings, other line ends, colours.

use crate::tests::{masker, texts};

/// Escapes a text for a string of JSON.
fn in_json(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\u{1b}' => escaped.push_str("\\u001b"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[test]
fn a_secret_is_found_in_strings_of_strings_in_colours_and_with_other_line_ends() {
    let masker = masker();
    let lines = |text: &str, end: &str| text.replace('\n', end);
    let array = |text: &str| text.split('\n').map(|line| format!("\"{line}\"")).collect::<Vec<_>>().join(",");
    for (kind, text, secret) in texts() {
        let coloured = text.replace(&secret, &format!("\u{1b}[01;31m\u{1b}[K{secret}\u{1b}[m\u{1b}[K"));
        let once = in_json(&text);
        let forms = [
            ("carriage returns", lines(&text, "\r\n")),
            ("lone carriage returns", lines(&text, "\r")),
            ("a string", once.clone()),
            ("a string in a string", in_json(&once)),
            ("three strings", in_json(&in_json(&once))),
            ("debug", format!("{text:?}")),
            ("debug of a string", format!("{once:?}")),
            ("lines of an array", array(&text)),
            ("lines of an array in a string", in_json(&array(&in_json(&text).replace("\\n", "\n")))),
            ("a quoted mail", lines(&text, "\n> ")),
            ("a listing with margins", lines(&text, "\n    | ")),
            ("colours", coloured.clone()),
            ("colours in a string", in_json(&coloured)),
            ("colours in a string of a string", in_json(&in_json(&coloured))),
            ("colours in debug", format!("{coloured:?}")),
        ];
        for (form, text) in forms {
            let masked = masker.mask(&text).text.into_owned();
            for line in secret.split(['\n', '\\']).filter(|line| line.len() > 11) {
                for piece in line.as_bytes().windows(12) {
                    let piece = std::str::from_utf8(piece).unwrap();
                    assert!(!masked.contains(piece), "{piece} of a {kind} in {form}:\n{text}\n{masked}");
                }
            }
        }
    }
}

#[test]
fn a_secret_that_is_coloured_in_its_middle_is_masked_with_the_colours() {
    let masker = masker();
    for (kind, text, secret) in texts() {
        for at in (1..secret.len()).step_by(5) {
            let (one, other) = secret.split_at(at);
            let coloured = text.replace(&secret, &format!("{one}\u{1b}[01;31m\u{1b}[K{other}\u{1b}[m"));
            let (expected, masked) = (masker.mask(&text).text, masker.mask(&coloured).text);
            assert_eq!(masked.replace("\u{1b}[m", ""), *expected, "{kind} at {at}");
        }
    }
}
