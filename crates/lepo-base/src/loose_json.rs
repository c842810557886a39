//! Repairs JSON as models and servers write it: raw line breaks in strings, invalid escapes, trailing commas, and
//! numbers and keywords of other languages. Truncated text stays truncated.

/// Keywords of other languages, with the JSON for them.
const WORDS: &[(&str, &str)] = &[
    ("NaN", "null"),
    ("nan", "null"),
    ("Infinity", "null"),
    ("inf", "null"),
    ("None", "null"),
    ("undefined", "null"),
    ("True", "true"),
    ("False", "false"),
];

/// Returns the repaired text; `None` if there was nothing to repair.
pub fn repaired(text: &str) -> Option<String> {
    let mut whole = String::with_capacity(text.len() + 16);
    let mut chars = text.char_indices().peekable();
    let (mut is_quoted, mut comma) = (false, None);
    let mut changed = false;
    while let Some((at, c)) = chars.next() {
        if is_quoted {
            match c {
                '"' => {
                    is_quoted = false;
                    whole.push(c);
                }
                '\\' => {
                    let rest = text.get(at + 1..).unwrap_or_default();
                    if is_escape(rest) {
                        whole.push('\\');
                        if let Some((_, escaped)) = chars.next() {
                            whole.push(escaped);
                        }
                    } else {
                        changed = true;
                        whole.push_str("\\\\");
                    }
                }
                '\u{0}'..='\u{1f}' => {
                    changed = true;
                    whole.push_str(&escape(c));
                }
                _ => whole.push(c),
            }
            continue;
        }
        match c {
            '"' => is_quoted = true,
            '}' | ']' => {
                if let Some(at) = comma {
                    whole.remove(at);
                    changed = true;
                }
            }
            c if c.is_ascii_alphabetic() || c == '-' => {
                let from = text.get(at..).unwrap_or_default();
                let sign = usize::from(c == '-');
                let word = from.get(sign..).unwrap_or_default();
                let end = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
                let (word, _) = word.split_at(end);
                let known = WORDS.iter().find(|(other, _)| *other == word);
                match known {
                    Some((_, value)) => {
                        changed = true;
                        whole.push_str(value);
                    }
                    None => whole.push_str(from.get(..sign + end).unwrap_or_default()),
                }
                for _ in 1..sign + end {
                    chars.next();
                }
                comma = None;
                continue;
            }
            _ => {}
        }
        comma = match c {
            ',' => Some(whole.len()),
            c if c.is_whitespace() => comma,
            _ => None,
        };
        whole.push(c);
    }
    changed.then_some(whole)
}

/// Whether a backslash before `rest` starts a valid escape.
fn is_escape(rest: &str) -> bool {
    let mut chars = rest.chars();
    match chars.next() {
        Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => true,
        Some('u') => rest.get(1..5).is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit())),
        // The end of a truncated text.
        None => true,
        _ => false,
    }
}

fn escape(c: char) -> String {
    match c {
        '\n' => "\\n".to_string(),
        '\r' => "\\r".to_string(),
        '\t' => "\\t".to_string(),
        c => format!("\\u{:04x}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_json_becomes_json() {
        for (text, expected) in [
            ("{\"a\":\"x\ny\tz\"}", Some(r#"{"a":"x\ny\tz"}"#)),
            ("{\"a\":\"\u{1}\"}", Some(r#"{"a":"\u0001"}"#)),
            (r#"{"a":"C:\path \d \u12"}"#, Some(r#"{"a":"C:\\path \\d \\u12"}"#)),
            ("{\"a\":\"x\\\ny\"}", Some(r#"{"a":"x\\\ny"}"#)),
            (r#"{"a":[1,2, ],"b":"," ,}"#, Some(r#"{"a":[1,2 ],"b":"," }"#)),
            (r#"{"a":NaN,"b":-Infinity,"c":[True,None]}"#, Some(r#"{"a":null,"b":null,"c":[true,null]}"#)),
            (r#"{"a":"NaN, ]","b":-1.5e3,"c":true}"#, None),
            (r#"{"a":"\" \\ \/ \b\f\n\r\t \u00e9"}"#, None),
            (r#"{"a":"cut"#, None),
            (r#"{"a":"cut\"#, None),
            ("", None),
        ] {
            assert_eq!(repaired(text).as_deref(), expected, "{text}");
        }
    }
}
