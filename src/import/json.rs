//! JSON read in place: one pass over the bytes makes a flat list of tokens; values are decoded where they are used.
//!
//! Exports are hundreds of megabytes, and most of it is never looked at. Nothing here recurses, so depth is no
//! danger; a lone surrogate, a byte that is not UTF-8 or a value of another type is no error.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::escape::unescape;

/// A value, a key, or a container with all that is in it.
#[derive(Debug, Clone, Copy)]
struct Token {
    start: u32,
    end: u32,
    /// The token after it and all that is in it.
    next: u32,
}

/// The state of a scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    String,
    Scalar,
}

/// Finds the tokens of one value. Fed again with more bytes, it goes on where it was.
#[derive(Debug)]
pub struct Scanner {
    tokens: Vec<Token>,
    open: Vec<u32>,
    at: usize,
    state: State,
    sound: bool,
}

impl Default for Scanner {
    fn default() -> Self {
        Scanner { tokens: Vec::new(), open: Vec::new(), at: 0, state: State::Between, sound: true }
    }
}

impl Scanner {
    /// Forgets the value before.
    pub fn reset(&mut self) {
        self.tokens.clear();
        self.open.clear();
        (self.at, self.state, self.sound) = (0, State::Between, true);
    }

    /// The number of open containers, and true if a string is open: the place at which a value that is too large
    /// is given up.
    pub fn depth(&self) -> (usize, bool) {
        (self.open.len(), self.state == State::String)
    }

    /// Scans the value that begins `bytes`, which are at most 4 GiB; its length, or `None` if it goes on behind
    /// them. `last` says that nothing is behind them.
    pub fn feed(&mut self, bytes: &[u8], last: bool) -> Option<usize> {
        loop {
            match self.state {
                State::String => {
                    let Some(found) = memchr2(b'"', b'\\', bytes.get(self.at..)?) else {
                        self.at = bytes.len();
                        return None;
                    };
                    self.at += found;
                    if bytes[self.at] == b'\\' {
                        if self.at + 1 >= bytes.len() {
                            return None;
                        }
                        self.at += 2;
                        continue;
                    }
                    self.at += 1;
                }
                State::Scalar => {
                    let rest = &bytes[self.at..];
                    let ends = |byte: &u8| {
                        matches!(
                            byte,
                            b',' | b']' | b'}' | b':' | b'"' | b'[' | b'{' | b' ' | b'\t' | b'\r' | b'\n'
                        )
                    };
                    match rest.iter().position(ends) {
                        Some(length) => self.at += length,
                        None if last => self.at = bytes.len(),
                        None => {
                            self.at = bytes.len();
                            return None;
                        }
                    }
                }
                State::Between => {
                    let byte = *bytes.get(self.at)?;
                    match byte {
                        b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => {
                            self.at += 1;
                            continue;
                        }
                        b'}' | b']' => {
                            self.at += 1;
                            let Some(open) = self.open.pop() else {
                                self.sound = false;
                                return Some(self.at);
                            };
                            let next = self.tokens.len() as u32;
                            let token = &mut self.tokens[open as usize];
                            (token.end, token.next) = (self.at as u32, next);
                            // `{` and `}`, `[` and `]` are two apart.
                            self.sound &= bytes[token.start as usize] + 2 == byte;
                            if self.open.is_empty() {
                                return Some(self.at);
                            }
                            continue;
                        }
                        b'{' | b'[' => {
                            self.open.push(self.tokens.len() as u32);
                            self.push();
                            self.at += 1;
                            continue;
                        }
                        b'"' => {
                            self.push();
                            self.at += 1;
                            self.state = State::String;
                        }
                        _ => {
                            self.push();
                            self.at += 1;
                            self.state = State::Scalar;
                        }
                    }
                    continue;
                }
            }
            // A string or a scalar has ended.
            if let Some(token) = self.tokens.last_mut() {
                token.end = self.at as u32;
                if self.state == State::Scalar {
                    self.sound &= is_scalar(&bytes[token.start as usize..self.at]);
                }
            }
            self.state = State::Between;
            if self.open.is_empty() {
                return Some(self.at);
            }
        }
    }

    /// True if the value ends where the bytes end.
    pub fn ends(&self, bytes: &[u8]) -> bool {
        self.open.is_empty() && self.state == State::Scalar && self.at >= bytes.len()
    }

    fn push(&mut self) {
        let next = self.tokens.len() as u32 + 1;
        self.tokens.push(Token { start: self.at as u32, end: self.at as u32, next });
    }

    /// The value that was scanned in `bytes`; `None` if it was no JSON.
    pub fn value<'d>(&'d self, bytes: &'d [u8]) -> Option<Value<'d>> {
        (self.sound && !self.tokens.is_empty()).then_some(Value { bytes, tokens: &self.tokens, at: 0 })
    }
}

/// A number, or one of the three words.
fn is_scalar(text: &[u8]) -> bool {
    match text.first() {
        Some(b'-' | b'0'..=b'9') => {
            text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
        }
        _ => matches!(text, b"null" | b"true" | b"false"),
    }
}

/// A value in a scanned text. One that is missing is as good as null.
#[derive(Debug, Clone, Copy)]
pub struct Value<'d> {
    bytes: &'d [u8],
    tokens: &'d [Token],
    at: usize,
}

impl<'d> Value<'d> {
    /// No value.
    pub fn missing_at_all() -> Value<'d> {
        Value { bytes: &[], tokens: &[], at: usize::MAX }
    }

    fn missing(self) -> Value<'d> {
        Value { at: usize::MAX, ..self }
    }

    /// The bytes as they stand in the source.
    pub fn raw(self) -> &'d [u8] {
        match self.tokens.get(self.at) {
            Some(token) => &self.bytes[token.start as usize..token.end as usize],
            None => &[],
        }
    }

    fn first(self) -> u8 {
        self.raw().first().copied().unwrap_or(b'n')
    }

    /// It is `{…}`.
    pub fn is_object(self) -> bool {
        self.first() == b'{'
    }

    /// It is `[…]`.
    pub fn is_array(self) -> bool {
        self.first() == b'['
    }

    /// It is missing or null.
    pub fn is_null(self) -> bool {
        self.first() == b'n'
    }

    /// It is `true`.
    pub fn is_true(self) -> bool {
        self.first() == b't'
    }

    /// It is this very string, which needs no escapes.
    pub fn is(self, text: &str) -> bool {
        self.raw().strip_prefix(b"\"").and_then(|raw| raw.strip_suffix(b"\"")) == Some(text.as_bytes())
    }

    /// The value of a key.
    pub fn get(self, key: &str) -> Value<'d> {
        self.fields().find(|(name, _)| name.is(key)).map_or(self.missing(), |(_, value)| value)
    }

    /// The value at the end of a path of keys.
    pub fn at(self, path: &[&str]) -> Value<'d> {
        path.iter().fold(self, |value, key| value.get(key))
    }

    /// True if there is something under a key, be it null.
    pub fn has(self, key: &str) -> bool {
        self.get(key).at != usize::MAX
    }

    /// Keys and values of an object; nothing of anything else.
    pub fn fields(self) -> impl Iterator<Item = (Value<'d>, Value<'d>)> {
        let mut members = self.members(b'{');
        std::iter::from_fn(move || {
            let key = members.next().filter(|key| key.first() == b'"')?;
            Some((key, members.next()?))
        })
    }

    /// The elements of an array; nothing of anything else.
    pub fn items(self) -> impl Iterator<Item = Value<'d>> {
        self.members(b'[')
    }

    fn members(self, opening: u8) -> impl Iterator<Item = Value<'d>> {
        let end = match self.tokens.get(self.at) {
            Some(token) if self.first() == opening => token.next as usize,
            _ => 0,
        };
        let mut at = self.at.wrapping_add(1);
        std::iter::from_fn(move || {
            let token = self.tokens.get(at).filter(|_| at < end)?;
            let value = Value { at, ..self };
            at = token.next as usize;
            Some(value)
        })
    }

    /// The text of a string.
    pub fn text(self) -> Option<Cow<'d, str>> {
        let raw = self.raw().strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(match memchr(b'\\', raw) {
            None => String::from_utf8_lossy(raw),
            Some(first) => Cow::Owned(unescape(raw, first)),
        })
    }

    /// The text of a string, empty for anything else.
    pub fn words(self) -> String {
        self.text().unwrap_or_default().into_owned()
    }

    /// The text of a string that says something.
    pub fn said(self) -> Option<String> {
        self.text().filter(|text| !text.is_empty()).map(Cow::into_owned)
    }

    /// A number as it is written.
    pub fn number(self) -> Option<&'d str> {
        std::str::from_utf8(self.raw())
            .ok()
            .filter(|text| text.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
    }

    /// A whole number.
    pub fn count(self) -> Option<u64> {
        self.number()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Option<serde_json::Value> {
        let mut scanner = Scanner::default();
        scanner.feed(text.as_bytes(), true)?;
        scanner.value(text.as_bytes()).map(copy)
    }

    /// The same value by the other parser's type.
    fn copy(value: Value<'_>) -> serde_json::Value {
        if value.is_object() {
            value.fields().map(|(key, value)| (key.words(), copy(value))).collect()
        } else if value.is_array() {
            value.items().map(copy).collect()
        } else if let Some(text) = value.text() {
            text.into_owned().into()
        } else {
            serde_json::from_slice(value.raw()).unwrap()
        }
    }

    #[test]
    fn reads_what_another_parser_reads() {
        for text in [
            "null",
            "true",
            "-1.5e3",
            "\"\"",
            "[]",
            "{}",
            "[[],[{}],[[[]]]]",
            r#"{"a":1,"b":[true,false,null,"x"],"c":{"d":"e"}}"#,
            r#"  { "a" : [ 1 , 2 ] , "한" : "글" }  "#,
            r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 x""#,
            "\"a\\\\\"",
            "[\"\\\\\",\"]\"]",
        ] {
            assert_eq!(scan(text), serde_json::from_str(text).ok(), "{text}");
            // In any two pieces.
            for cut in 0..text.len() {
                let mut scanner = Scanner::default();
                let whole = match scanner.feed(&text.as_bytes()[..cut], false) {
                    Some(_) => continue,
                    None => scanner.feed(text.as_bytes(), true),
                };
                assert!(whole.is_some(), "{text} at {cut}");
                assert_eq!(
                    scanner.value(text.as_bytes()).map(copy),
                    serde_json::from_str(text).ok(),
                    "{cut}"
                );
            }
        }
    }

    #[test]
    fn what_is_torn_or_no_json_is_no_value() {
        for text in ["", "{", "[1", "\"a", "\"a\\\"", "{\"a\":", "{]", "x", "{\"a\":x}", "]"] {
            assert_eq!(scan(text), None, "{text}");
        }
    }

    #[test]
    fn a_million_deep_is_no_trouble() {
        let text = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        let mut scanner = Scanner::default();
        assert_eq!(scanner.feed(text.as_bytes(), true), Some(text.len()));
        assert_eq!(scanner.value(text.as_bytes()).unwrap().items().count(), 1);
    }
}
