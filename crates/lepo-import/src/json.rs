//! JSON without a copy: a scanner makes a flat list of tokens; values are decoded where they are used.
//!
//! Exports are hundreds of megabytes, most of which is never used. Nothing here recurses, so depth is harmless; a lone
//! surrogate, a byte that is not UTF-8 or a value of another type is not an error.

use std::borrow::Cow;

use memchr::memchr;

use super::unescape::unescape;

/// A value, a key, or a container with its content.
#[derive(Debug, Clone, Copy)]
struct Token {
    start: u32,
    end: u32,
    /// Index of the token after this one and its content.
    next: u32,
}

/// A value in a scanned text. A missing value is treated as null.
#[derive(Debug, Clone, Copy)]
pub struct JsonValue<'d> {
    bytes: &'d [u8],
    tokens: &'d [Token],
    /// Index of its token; `usize::MAX` for a missing value.
    index: usize,
}

impl<'d> JsonValue<'d> {
    /// Creates the value that starts with the first of `tokens`.
    fn new(bytes: &'d [u8], tokens: &'d [Token]) -> JsonValue<'d> {
        JsonValue { bytes, tokens, index: 0 }
    }

    fn missing(self) -> JsonValue<'d> {
        JsonValue { index: usize::MAX, ..self }
    }

    /// Returns the bytes verbatim.
    #[inline]
    pub fn raw(self) -> &'d [u8] {
        match self.tokens.get(self.index) {
            Some(token) => &self.bytes[token.start as usize..token.end as usize],
            None => &[],
        }
    }

    /// Returns the first byte, by which types differ; `n`, as of `null`, for a missing value.
    #[inline]
    fn first_byte(self) -> u8 {
        self.raw().first().copied().unwrap_or(b'n')
    }

    /// Whether the value is `{…}`.
    pub fn is_object(self) -> bool {
        self.first_byte() == b'{'
    }

    /// Whether the value is `[…]`.
    pub fn is_array(self) -> bool {
        self.first_byte() == b'['
    }

    /// Whether the value is missing or null.
    pub fn is_null(self) -> bool {
        self.first_byte() == b'n'
    }

    /// Whether the value is missing, and not null.
    pub fn is_missing(self) -> bool {
        self.index == usize::MAX
    }

    /// Whether the value is `true`.
    pub fn is_true(self) -> bool {
        self.first_byte() == b't'
    }

    /// Returns the inside of a string, verbatim.
    #[inline]
    fn quoted(self) -> Option<&'d [u8]> {
        match self.raw() {
            [b'"', inside @ .., b'"'] => Some(inside),
            _ => None,
        }
    }

    /// Whether the value is the string `text`, written without escapes.
    #[inline]
    pub fn is_str(self, text: &str) -> bool {
        self.quoted() == Some(text.as_bytes())
    }

    /// Returns the value of a key.
    pub fn get(self, key: &str) -> JsonValue<'d> {
        self.fields().find(|(name, _)| name.is_str(key)).map_or(self.missing(), |(_, value)| value)
    }

    /// Returns the values of several keys, in one pass.
    pub fn pick<const N: usize>(self, keys: [&str; N]) -> [JsonValue<'d>; N] {
        let mut found = [self.missing(); N];
        for (name, value) in self.fields() {
            let name = name.quoted();
            let index = keys.iter().position(|key| name == Some(key.as_bytes()));
            if let Some(index) = index.filter(|&index| found[index].index == usize::MAX) {
                found[index] = value;
            }
        }
        found
    }

    /// Returns the value at the end of a path of keys.
    pub fn at(self, path: &[&str]) -> JsonValue<'d> {
        path.iter().fold(self, |value, key| value.get(key))
    }

    /// Whether a key exists; its value may be null.
    pub fn has(self, key: &str) -> bool {
        self.get(key).index != usize::MAX
    }

    /// Returns the keys and values of an object; empty for any other type.
    #[inline]
    pub fn fields(self) -> impl Iterator<Item = (JsonValue<'d>, JsonValue<'d>)> {
        let mut members = self.members(b'{');
        std::iter::from_fn(move || {
            let key = members.next().filter(|key| key.first_byte() == b'"')?;
            Some((key, members.next()?))
        })
    }

    /// Returns the elements of an array; empty for any other type.
    pub fn items(self) -> impl Iterator<Item = JsonValue<'d>> {
        self.members(b'[')
    }

    /// Returns the parts of a content: the elements of an array, or a single part.
    pub fn parts(self) -> impl Iterator<Item = JsonValue<'d>> {
        self.items().chain(self.is_object().then_some(self))
    }

    #[inline]
    fn members(self, opening: u8) -> impl Iterator<Item = JsonValue<'d>> {
        let end = match self.tokens.get(self.index) {
            Some(token) if self.first_byte() == opening => token.next as usize,
            _ => 0,
        };
        let mut index = self.index.wrapping_add(1);
        std::iter::from_fn(move || {
            let token = self.tokens.get(index).filter(|_| index < end)?;
            let value = JsonValue { index, ..self };
            index = token.next as usize;
            Some(value)
        })
    }

    /// Decodes a string; `None` for any other type.
    pub fn text(self) -> Option<Cow<'d, str>> {
        let raw = self.quoted()?;
        Some(match memchr(b'\\', raw) {
            None => utf8(raw),
            Some(first) => Cow::Owned(unescape(raw, first)),
        })
    }

    /// Decodes a string; empty for any other type.
    pub fn string(self) -> String {
        self.text().unwrap_or_default().into_owned()
    }

    /// Decodes a string; `None` if it is empty, or another type.
    pub fn non_empty(self) -> Option<String> {
        self.text().filter(|text| !text.is_empty()).map(Cow::into_owned)
    }

    /// Returns a number verbatim.
    pub fn number(self) -> Option<&'d str> {
        std::str::from_utf8(self.raw())
            .ok()
            .filter(|text| text.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
    }

    /// Returns a non-negative integer.
    pub fn count(self) -> Option<u64> {
        self.number()?.parse().ok()
    }
}

/// Decodes UTF-8, and replaces malformed bytes. Most texts are valid, and the strict check is the faster one.
fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Scans values one at a time; the buffers are reused.
#[derive(Debug, Default)]
pub struct Scanner {
    tokens: Vec<Token>,
    open: Vec<u32>,
}

impl Scanner {
    /// Scans the value at the start of `bytes`, which are at most 4 GiB, and returns its length; `None` if it is
    /// malformed or incomplete.
    pub fn scan(&mut self, bytes: &[u8]) -> Option<usize> {
        self.tokens.clear();
        self.open.clear();
        let mut at = 0;
        loop {
            let start = at;
            let byte = *bytes.get(at)?;
            at += 1;
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => continue,
                b'{' | b'[' => {
                    self.open.push(self.tokens.len() as u32);
                    self.push(start, at);
                    continue;
                }
                b'}' | b']' => {
                    let next = self.tokens.len() as u32;
                    let token = &mut self.tokens[self.open.pop()? as usize];
                    (token.end, token.next) = (at as u32, next);
                    // `{` and `}`, like `[` and `]`, are two apart in ASCII.
                    if bytes[token.start as usize] + 2 != byte {
                        return None;
                    }
                }
                b'"' => {
                    at = end_of_string(bytes, at)?;
                    self.push(start, at);
                }
                _ => {
                    at += bytes[at..].iter().position(|&byte| ends_scalar(byte)).unwrap_or(bytes.len() - at);
                    if !is_scalar(&bytes[start..at]) {
                        return None;
                    }
                    self.push(start, at);
                }
            }
            if self.open.is_empty() {
                return Some(at);
            }
        }
    }

    fn push(&mut self, start: usize, end: usize) {
        let next = self.tokens.len() as u32 + 1;
        self.tokens.push(Token { start: start as u32, end: end as u32, next });
    }

    /// Returns the value scanned in `bytes`.
    pub fn value<'d>(&'d self, bytes: &'d [u8]) -> JsonValue<'d> {
        JsonValue::new(bytes, &self.tokens)
    }
}

/// Returns the offset after the string whose inside starts at `from`.
fn end_of_string(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let quote = at + memchr(b'"', bytes.get(at..)?)?;
        at = quote + 1;
        // Few escapes are of a quote: it is faster to count the backslashes before each quote than to decode all
        // escapes.
        let escapes = bytes[from..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if escapes % 2 == 0 {
            return Some(at);
        }
    }
}

/// Whether a number or a literal ends before this byte.
pub(super) fn ends_scalar(byte: u8) -> bool {
    matches!(byte, b',' | b']' | b'}' | b':' | b'"' | b'[' | b'{' | b' ' | b'\t' | b'\r' | b'\n')
}

/// Whether a text is a number or one of the three literals.
fn is_scalar(text: &[u8]) -> bool {
    match text.first() {
        Some(b'-' | b'0'..=b'9') => {
            text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
        }
        _ => matches!(text, b"null" | b"true" | b"false"),
    }
}

/// Parses a text that is a single value.
pub fn read_json<T>(text: &str, read: impl FnOnce(JsonValue<'_>) -> T) -> Option<T> {
    let mut scanner = Scanner::default();
    scanner.scan(text.as_bytes())?;
    Some(read(scanner.value(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Option<serde_json::Value> {
        read_json(text, copy)
    }

    /// Converts a value to serde's type.
    fn copy(value: JsonValue<'_>) -> serde_json::Value {
        if value.is_object() {
            value.fields().map(|(key, value)| (key.string(), copy(value))).collect()
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
        }
    }

    #[test]
    fn several_keys_are_found_as_each_alone() {
        let text = r#"{"b":1,"a":[2],"b":3,"c":null,"\u0061":4}"#;
        let compare = |value: JsonValue<'_>| {
            let keys = ["a", "b", "c", "d"];
            for (key, found) in keys.iter().zip(value.pick(keys)) {
                assert_eq!((found.raw(), found.index), (value.get(key).raw(), value.get(key).index), "{key}");
            }
        };
        assert!(read_json(text, compare).is_some());
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
        assert_eq!(scanner.scan(text.as_bytes()), Some(text.len()));
        assert_eq!(scanner.value(text.as_bytes()).items().count(), 1);
    }
}
