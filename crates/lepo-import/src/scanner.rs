//! The tokens of a JSON value, found in one pass over its bytes. Nothing recurses, so depth is no danger.

use std::ops::Range;

use memchr::memchr;

use super::json::Value;
use super::token::Token;

/// Tokens that are not copied if they can be given away.
const MANY: usize = 1 << 16;

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
                    let Some(found) = memchr(b'"', bytes.get(self.at..)?) else {
                        self.at = bytes.len();
                        return None;
                    };
                    let quote = self.at + found;
                    self.at = quote + 1;
                    // Most escapes are none of a quote: only those before a quote are looked at, from it back.
                    let begin = self.tokens.last().map_or(0, |token| token.start as usize);
                    let escapes = bytes[begin..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
                    if escapes % 2 == 1 {
                        continue;
                    }
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

    /// Adds the tokens of the value that was scanned to those of others; their place there. The value is not asked
    /// for here after that.
    pub(super) fn hand_over(&mut self, tokens: &mut Vec<Token>) -> Range<usize> {
        let from = tokens.len();
        if from == 0 && self.tokens.len() > MANY {
            std::mem::swap(tokens, &mut self.tokens);
            return 0..tokens.len();
        }
        tokens.extend_from_slice(&self.tokens);
        from..tokens.len()
    }

    /// The value that was scanned in `bytes`; `None` if it was no JSON.
    pub fn value<'d>(&'d self, bytes: &'d [u8]) -> Option<Value<'d>> {
        (self.sound && !self.tokens.is_empty()).then(|| Value::new(bytes, &self.tokens))
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
