//! JSON read in place: a scanner makes a flat list of tokens; values are decoded where they are used.
//!
//! Exports are hundreds of megabytes, and most of it is never looked at. Nothing here recurses, so depth is no
//! danger; a lone surrogate, a byte that is not UTF-8 or a value of another type is no error.

use std::borrow::Cow;

use memchr::memchr;

use super::escape::unescape;
use super::token::Token;

/// A value in a scanned text. One that is missing is as good as null.
#[derive(Debug, Clone, Copy)]
pub struct Value<'d> {
    bytes: &'d [u8],
    tokens: &'d [Token],
    at: usize,
}

impl<'d> Value<'d> {
    /// The value that the first of these tokens begins.
    pub(super) fn new(bytes: &'d [u8], tokens: &'d [Token]) -> Value<'d> {
        Value { bytes, tokens, at: 0 }
    }

    fn missing(self) -> Value<'d> {
        Value { at: usize::MAX, ..self }
    }

    /// The bytes as they stand in the source.
    #[inline]
    pub fn raw(self) -> &'d [u8] {
        match self.tokens.get(self.at) {
            Some(token) => &self.bytes[token.start as usize..token.end as usize],
            None => &[],
        }
    }

    #[inline]
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

    /// It is not there at all.
    pub fn is_missing(self) -> bool {
        self.at == usize::MAX
    }

    /// It is `true`.
    pub fn is_true(self) -> bool {
        self.first() == b't'
    }

    /// The inside of a string, as it stands in the source.
    #[inline]
    fn quoted(self) -> Option<&'d [u8]> {
        match self.raw() {
            [b'"', inside @ .., b'"'] => Some(inside),
            _ => None,
        }
    }

    /// It is this very string, which needs no escapes.
    #[inline]
    pub fn is(self, text: &str) -> bool {
        self.quoted() == Some(text.as_bytes())
    }

    /// The value of a key.
    pub fn get(self, key: &str) -> Value<'d> {
        self.fields().find(|(name, _)| name.is(key)).map_or(self.missing(), |(_, value)| value)
    }

    /// The values of several keys, found in one pass.
    pub fn pick<const N: usize>(self, keys: [&str; N]) -> [Value<'d>; N] {
        let mut found = [self.missing(); N];
        for (name, value) in self.fields() {
            let name = name.quoted();
            let place = keys.iter().position(|key| name == Some(key.as_bytes()));
            if let Some(place) = place.filter(|&place| found[place].at == usize::MAX) {
                found[place] = value;
            }
        }
        found
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
    #[inline]
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

    #[inline]
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
        let raw = self.quoted()?;
        Some(match memchr(b'\\', raw) {
            None => utf8(raw),
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

/// Text; what is no UTF-8 is replaced. Most is: the strict way to check that is the faster one.
fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scanner::{Scanner, read_json};

    fn scan(text: &str) -> Option<serde_json::Value> {
        read_json(text, copy)
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
        }
    }

    #[test]
    fn several_keys_are_found_as_each_alone() {
        let text = r#"{"b":1,"a":[2],"b":3,"c":null,"\u0061":4}"#;
        let compare = |value: Value<'_>| {
            let keys = ["a", "b", "c", "d"];
            for (key, found) in keys.iter().zip(value.pick(keys)) {
                assert_eq!((found.raw(), found.at), (value.get(key).raw(), value.get(key).at), "{key}");
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
