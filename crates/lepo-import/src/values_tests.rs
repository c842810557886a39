//! Tests for the values of a stream: by lines, in an array, in a row.

use std::io::{self, Read};

use super::values::{Item, Values};

/// Gives a few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.1.min(self.0.len()).min(to.len());
        to[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

fn all(lines: bool, text: &str, step: usize) -> String {
    let slow = Slow(text.as_bytes(), step);
    let mut values = if lines { Values::lines(slow) } else { Values::of(slow) }.at_most(40);
    let mut found = Vec::new();
    while let Some(item) = values.next().unwrap() {
        found.push(match item {
            Item::Value => String::from_utf8_lossy(values.value().unwrap().raw()).into_owned(),
            Item::Bad => "bad".into(),
            Item::Torn => "torn".into(),
            Item::Passed => "passed".into(),
            Item::Large => "large".into(),
            Item::Behind => "behind".into(),
        });
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
        ("{\"a\n{}\n", "bad {}"),
        ("{}\n{\"a\":", "{} torn"),
        ("nonsense\nxx\n{}", "bad bad {}"),
        (&format!("{{}}\n{long}\n1\n"), "{} large 1"),
        (&format!("{{}}\n{long}"), "{} large"),
    ] {
        for step in [1, 2, 7, 1000] {
            assert_eq!(all(true, text, step), found, "{text:?} by {step}");
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
        ("[{\"a\":x},2]", "bad 2"),
        (&format!("[1,{long},2]"), "1 large 2"),
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
