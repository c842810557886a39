//! Tests for the values of a stream: by lines, in an array, in sequence.

use std::io::{self, Read};

use super::source::{BEHIND, SourceReader};
use super::value_reader::{InvalidCounts, ValueReader};
use lepo_base::error::Error;

/// Returns the values of a text, read `step` bytes at a time, and a word for each text without a value.
fn all(lines: bool, text: &str, step: usize) -> String {
    let bytes = text.as_bytes();
    let mut values =
        if lines { ValueReader::lines(bytes) } else { ValueReader::sequence(bytes) }.at_most(40).by(step);
    let (mut found, mut odd) = (Vec::new(), InvalidCounts::default());
    while values.advance(&mut odd).unwrap() {
        found.push(String::from_utf8_lossy(values.value().raw()).into_owned());
    }
    for (count, name) in
        [(odd.bad, "bad"), (odd.large, "large"), (odd.torn, "torn"), (odd.trailing, "behind")]
    {
        found.extend((0..count).map(|_| name.to_string()));
    }
    found.join(" ")
}

#[test]
fn a_bad_line_costs_only_itself() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(90));
    for (text, found) in [
        ("", ""),
        ("{}\n[1]\n", "{} [1]"),
        ("{}\r\n\r\n[1]", "{} [1]"),
        ("\u{feff}{}\n", "{}"),
        ("{}{\"b\":1}\n2\n", "{} {\"b\":1} 2"),
        ("{\"a\n{}\n", "{} bad"),
        ("{}\n{\"a\":", "{} torn"),
        ("{}\n{\"a\":\n", "{} bad"),
        ("nonsense\nxx\n{}", "{} bad bad"),
        (&format!("{{}}\n{long}\n1\n"), "{} 1 large"),
        (&format!("{{}}\n{long}"), "{} large"),
    ] {
        for step in [1, 2, 7, 1000] {
            assert_eq!(all(true, text, step), found, "{text:?} by {step}");
        }
    }
}

#[test]
fn a_record_behind_one_that_was_cut_is_read() {
    for (report, text, found) in [
        (
            "https://github.com/github/copilot-cli/issues/4098",
            "{\"t\":\"ab{\"t\":2}\n{\"t\":3}\n",
            "{\"t\":2} {\"t\":3} bad",
        ),
        (
            "https://github.com/Tracer-Cloud/opensre/issues/6356",
            "{\"t\":{\"u\":\"\u{1f600}{\"t\":[2]}",
            "{\"t\":[2]} bad",
        ),
        (
            "https://github.com/PrimeIntellect-ai/prime-agent/pull/1785",
            "{\"t\":1,\"x\"{\"t\":2}\r\n",
            "{\"t\":2} bad",
        ),
        (
            "https://github.com/openai/codex/issues/24425",
            "{\"t\":[{\"u\":1}{\"t\":[{\"u\":2}]}\n",
            "{\"t\":[{\"u\":2}]} bad",
        ),
        ("https://github.com/QwenLM/qwen-code/pull/3656", "{\"t\":1}{\"t\":2}\n", "{\"t\":1} {\"t\":2}"),
        (
            "a value within a record that was cut is no record",
            "{\"t\":[{\"u\":1}\n{\"t\":3}\n",
            "{\"t\":3} bad",
        ),
        (
            "https://github.com/anthropics/claude-code/issues/76059",
            "{\"t\":1}\n{\"t\":2}\0\0\0\n\0\0",
            "{\"t\":1} {\"t\":2} bad bad",
        ),
        (
            "https://github.com/anthropics/claude-code/issues/49876",
            "{\"t\":1}\n\0\0\0{\"t\":2}\n",
            "{\"t\":1} {\"t\":2} bad",
        ),
    ] {
        for step in [1, 2, 7, 1000] {
            assert_eq!(all(true, text, step), found, "{report}: {text:?} by {step}");
        }
    }
}

#[test]
fn elements_and_values_in_a_row_are_found() {
    let long = format!("{{\"a\":[\"{}\\\\\",\"]\\\"}}\"]}}", "x".repeat(90));
    for (text, found) in [
        ("", ""),
        ("[]", ""),
        ("[{},[1], \"x\" ,3]", "{} [1] \"x\" 3"),
        ("{\"a\":1}\n{\"b\":2}", "{\"a\":1} {\"b\":2}"),
        ("[{},{\"a\":", "{} torn"),
        ("[{}", "{} torn"),
        ("{\"a\":", "torn"),
        ("[{\"a\":x},2]", "2 bad"),
        ("[[1},}2]", "2 bad bad"),
        ("[\"a\\\\\",\"\\\"]\"]", "\"a\\\\\" \"\\\"]\""),
        (&format!("[1,{long},2]"), "1 2 large"),
        (&format!("[1,{long}"), "1 large torn"),
        ("17", "17"),
        ("[1][2]", "1 behind"),
        ("[1]\n [2] \n", "1 behind"),
        ("[1] garbage, and more", "1 behind"),
        ("[] x", "behind"),
        ("[1]\r\n\n ", "1"),
        ("{}\n[2]", "{} [2]"),
    ] {
        for step in [1, 2, 7, 1000] {
            assert_eq!(all(false, text, step), found, "{text:?} by {step}");
        }
    }
}

/// Returns a few bytes at a time, then the end or an error.
struct Slow<'a> {
    left: &'a [u8],
    at_once: usize,
    end: Option<io::ErrorKind>,
}

impl Read for Slow<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if let Some(kind) = self.end.filter(|_| self.left.is_empty()) {
            return Err(kind.into());
        }
        let n = self.at_once.min(self.left.len()).min(to.len());
        to[..n].copy_from_slice(&self.left[..n]);
        self.left = &self.left[n..];
        Ok(n)
    }
}

/// Values that are easily cut at the wrong offset.
const TRICKY: [&str; 12] = [
    r#"{"a":"}]{[,\""}"#,
    r#"{"quote":"\\\"","next":"\\"}"#,
    r#"[[1,[2,"]"]],{"b":[]}]"#,
    "[]",
    "{}",
    r#""just a string, with \" and \\""#,
    "-1.5e3",
    "null",
    r#"{"한":"글 \ud83d\ude00"}"#,
    r#"{ "spaced" : [ 1 , 2 ] }"#,
    r#"{"long":"more than the sixty bytes that a value may have in this test"}"#,
    r#"{"bad":x}"#,
];

#[test]
fn any_number_of_bytes_at_a_time_gives_the_same_values() {
    let many: Vec<&str> = TRICKY.iter().copied().cycle().take(60).collect();
    let good: Vec<&str> =
        many.iter().copied().filter(|text| text.len() < 60 && !text.ends_with("x}")).collect();
    let (array, row, lines) =
        (format!("[{}]", many.join(" ,\n")), many.join("\n"), format!("{}\r\n", many.join("\n")));
    let torn = |whole: &str| whole.as_bytes()[..whole.len() - 150].to_vec();
    let two_in_a_line = "{}{\"b\":1}\n\n  2 3\n{\"open\n[1".repeat(9);
    for (is_lines, bytes, whole) in [
        (false, array.clone().into_bytes(), true),
        (false, torn(&array), false),
        (false, row.clone().into_bytes(), true),
        (false, torn(&row), false),
        (false, format!("{array}\n{array}").into_bytes(), true),
        (false, format!("{array} garbage").into_bytes(), true),
        (true, lines.clone().into_bytes(), true),
        (true, torn(&lines), false),
        (true, two_in_a_line.into_bytes(), false),
        (true, b"\xef\xbb\xbf\n\n".to_vec(), false),
    ] {
        for end in [None, Some(io::ErrorKind::UnexpectedEof), Some(io::ErrorKind::QuotaExceeded)] {
            let read = |at_once: usize, step: usize| {
                let slow = Slow { left: &bytes, at_once, end };
                let values = if is_lines { ValueReader::lines(slow) } else { ValueReader::sequence(slow) };
                let mut values = values.at_most(60).by(step);
                let (mut reading, mut found) = (SourceReader::default(), Vec::new());
                let done = loop {
                    match reading.next(&mut values) {
                        Ok(Some(value)) => found.push(String::from_utf8_lossy(value.raw()).into_owned()),
                        Ok(None) => break None,
                        Err(error) => break Some(error.to_string()),
                    }
                };
                (found, reading.tally.skipped, done)
            };
            let expected = read(1000, 1 << 20);
            if whole {
                assert_eq!(expected.0, good);
            }
            let fails = end == Some(io::ErrorKind::QuotaExceeded) && !expected.1.contains_key(BEHIND);
            assert_eq!(expected.2.is_some(), fails, "{expected:?}");
            for (at_once, step) in [(1, 1), (1, 8), (7, 16), (1000, 61), (1000, 300)] {
                let source = String::from_utf8_lossy(&bytes);
                assert_eq!(read(at_once, step), expected, "{at_once} {step} {end:?}: {source}");
            }
        }
    }
}

#[test]
fn values_larger_than_what_is_read_at_a_time_come_whole() {
    let large = format!("{{\"a\":\"{}\"}}", "\\\"}x".repeat(300_000));
    let elements = ["1", &large, "{\"b\":2}", &large, &large, "3"];
    for (is_lines, text) in [(false, format!("[{}]", elements.join(","))), (true, elements.join("\n"))] {
        let bytes = text.as_bytes();
        let mut values =
            if is_lines { ValueReader::lines(bytes) } else { ValueReader::sequence(bytes) }.by(4096);
        for element in elements {
            assert!(values.advance(&mut InvalidCounts::default()).unwrap());
            assert!(values.value().raw() == element.as_bytes());
        }
    }
}

#[test]
fn reading_ends_between_values_when_it_is_to_stop() {
    let bytes = "[1]\n".repeat(100);
    for (left, expected) in [(0, 0), (1, 1), (7, 7), (101, 100)] {
        let asked = std::cell::Cell::new(0);
        let stop = move || {
            asked.set(asked.get() + 1);
            if asked.get() > left { Err(Error::usage("stop")) } else { Ok(()) }
        };
        let mut reading = SourceReader { stop: Some(Box::new(stop)), ..SourceReader::default() };
        let mut values = ValueReader::lines(bytes.as_bytes());
        let mut found = 0;
        let stopped = loop {
            match reading.next(&mut values) {
                Ok(Some(_)) => found += 1,
                Ok(None) => break false,
                Err(_) => break true,
            }
        };
        assert_eq!((found, stopped), (expected, left < 101));
    }
}
