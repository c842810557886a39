//! Finds the tokens of a JSON value in one pass over its bytes. Nothing recurses, so depth is harmless.

use memchr::memchr;

use super::json::JsonValue;
use super::token::Token;

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
