//! Tests of reading front matter.

use super::*;

fn field(text: &str, name: &str) -> String {
    let text = format!("---\n{text}\n---\nbody\n");
    match FrontMatter::read(&text).unwrap().field(name).unwrap() {
        FieldValue::Text(text) => text.clone(),
        FieldValue::Map(map) => {
            map.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
        }
        FieldValue::List(items) => items.join("+"),
    }
}

#[test]
fn scalars_of_every_form_are_read() {
    for (text, expected) in [
        ("d: plain", "plain"),
        ("d:   plain  # a comment", "plain"),
        ("d: a#b", "a#b"),
        ("d: 1.0", "1.0"),
        ("d: true", "true"),
        ("d:", ""),
        ("d: # nothing", ""),
        ("d: two\n  lines\n  of it", "two lines of it"),
        ("d:\n  below\n  it", "below it"),
        ("d: \"a \\\"b\\\" \\n \\u00e9 \\x41: c # d\"", "a \"b\" \n é A: c # d"),
        ("d: 'it''s: \"so\"'", "it's: \"so\""),
        ("d: \"one\n  two\"", "one two"),
        ("d: |\n  one\n    two\n\n  three\n\n", "one\n  two\n\nthree"),
        ("d: >\n  one\n  two\n\n  three", "one two\n\nthree"),
        ("d: >-\n  one\n  two", "one two"),
        ("d: |2\n   one", " one"),
        ("d: 문서: 읽기", "문서: 읽기"),
        ("d: Use when: the user asks", "Use when: the user asks"),
        ("\"d\": x", "x"),
        ("d: |\n  a: b\n# not in it\ne: f", "a: b"),
        ("d:\n  author: me\n  version: \"1.0\"\ne: f", "author=me,version=1.0"),
        ("d:\n- a\n- b c\ne: f", "a+b c"),
        ("  d: x\n  e: f", "x"),
        ("d: x\n...\nwords", "x"),
        ("d:\n  a:\n    b: c\n  e: f", "a=,e=f"),
        ("d:\n  - 'a'\n  - b", "a+b"),
    ] {
        assert_eq!(field(text, "d"), expected, "{text}");
    }
    assert_eq!(field("d: |\n  a: b\ne: f", "e"), "f");
    assert_eq!(field("d:\n  a: b\n\n  c: d\ne: f", "e"), "f");
}

#[test]
fn what_strict_readers_refuse_is_a_fault_and_read_all_the_same() {
    for (text, fault) in [
        ("d: a: b", "line 2: a value with a colon is not quoted"),
        ("d: a\n  b: c", "line 3: a value with a colon is not quoted"),
        ("d: [a, b]", "line 2: a value begins with a character"),
        ("d: &a b", "line 2: a value begins with a character"),
        ("d: x\nd: y", "line 3: \"d\" appears twice"),
        ("d: x\n\te: y", "line 3: it is indented"),
        ("d: x\nwords", "line 3: it is not a field"),
        ("d: \"x", "line 2: the closing quote is missing"),
        ("d: \"x\" y", "line 2: there is text after the closing quote"),
        ("d: | x\n  y", "line 2: there is text after the block indicator"),
        ("  e: x\nd: y", "line 3: it is indented less"),
        ("d: - a", "line 2: a value begins with a character"),
        ("d: , a", "line 2: a value begins with a character"),
        ("d: \"\\q\"", "line 2: a backslash does not begin"),
        ("d: x --- y", "--- occurs within"),
    ] {
        let text = format!("---\n{text}\n---\n");
        let read = FrontMatter::read(&text).unwrap();
        assert!(read.faults.iter().any(|told| told.starts_with(fault)), "{text}: {:?}", read.faults);
        assert!(read.field("d").is_some(), "{text}");
    }
    let marked = FrontMatter::read("\u{feff}---\nd: x\n---\n").unwrap();
    assert_eq!((marked.text("d"), marked.faults.len()), (Some("x"), 1));
}

#[test]
fn the_text_behind_it_is_the_body() {
    let read = FrontMatter::read("---\r\nname: a\r\n---\r\n\r\n# A\r\n\r\n---\r\nB\r\n").unwrap();
    assert_eq!(read.body, "# A\r\n\r\n---\r\nB");
    assert_eq!(read.text("name"), Some("a"));
    for (text, why) in [
        ("", "does not begin"),
        ("# A\n", "does not begin"),
        ("----\nname: a\n---\n", "does not begin"),
        ("---\nname: a\n", "is not closed"),
        ("---\n# nothing\n---\n", "is empty"),
    ] {
        assert!(FrontMatter::read(text).unwrap_err().contains(why), "{text}");
    }
}

#[test]
fn hostile_text_is_read_in_time_and_without_a_panic() {
    for text in [
        "a: |\n".repeat(9000),
        format!("a: \"{}", "\\".repeat(60_000)),
        format!("a: '{}", "''".repeat(30_000)),
        "a:\n".to_string() + &" b:\n".repeat(15_000),
        "- ".repeat(30_000),
        "a: \"\\u00".to_string(),
        "a: \"\\U00110000\"".to_string(),
        "\u{85}: \u{2028}\n각:각\n".to_string(),
        " ".repeat(60_000),
        "a: \"x\n".to_string() + &" y\n".repeat(20_000),
    ] {
        let text = format!("---\n{text}\n---\n");
        let _ = FrontMatter::read(&text);
    }
}
