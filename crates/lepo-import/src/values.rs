//! The JSON values of a file, one after the other: lines, the elements of one array, or values in a row.
//!
//! Only one value is in memory at a time, or one piece of the file (see [`super::pieces`]). One that is too large,
//! torn or no JSON is told and stepped over.

use std::io::{self, Read};
use std::ops::Range;

use memchr::memchr;

use super::blocks::Blocks;
use super::json::Value;
use super::pieces::Cutting;
use super::scanner::Scanner;

/// Bytes of one value, at most. A conversation is one value in an export.
pub const LARGEST: usize = 1 << 30;

/// Bytes read at a time.
const STEP: usize = 1 << 18;

/// The next token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A value; see [`Values::value`].
    Value,
    /// A line that was not worth to be scanned; its value is an empty object.
    Passed,
    /// Something that is no JSON.
    Bad,
    /// The file ends within it.
    Torn,
    /// A value that is larger than what is read.
    Large,
    /// Something behind the end of the array; it is not read.
    Behind,
}

/// Shortens a whole line in place, before it is scanned: gives the bytes that are left of it, none for a line
/// that says nothing.
pub type Trim = fn(&mut [u8]) -> usize;

/// The way values are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// By newlines; what is wrong with one line does not touch the next.
    Lines,
    /// By their own ends; not known yet whether in one array.
    Begin,
    Row,
    Array,
    /// Behind the end of the array.
    Behind,
    Ended,
}

/// The values of a stream.
pub struct Values<R> {
    from: R,
    pub(super) buffer: Vec<u8>,
    /// The bytes of the buffer that are not taken yet.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) eof: bool,
    pub(super) form: Form,
    pub(super) scanner: Scanner,
    /// The rest of a line, behind the value that was taken of it.
    line: usize,
    /// The offset of the value that was found last.
    pub(super) found: Range<usize>,
    pub(super) largest: usize,
    pub(super) trim: Option<Trim>,
    /// Bytes read at a time.
    pub(super) step: usize,
    /// Used by [`super::pieces`] alone.
    pub(super) cutting: Cutting,
    /// The file that is read, if its lines may be read in any order.
    pub(super) blocks: Option<Blocks>,
}

impl<R: Read> Values<R> {
    /// One value a line.
    pub fn lines(from: R) -> Values<R> {
        Values::new(from, Form::Lines)
    }

    /// The elements of an array; or, where it begins with another value, values in a row.
    pub fn of(from: R) -> Values<R> {
        Values::new(from, Form::Begin)
    }

    pub(super) fn new(from: R, form: Form) -> Values<R> {
        let (buffer, scanner) = (Vec::new(), Scanner::default());
        Values {
            from,
            buffer,
            start: 0,
            end: 0,
            eof: false,
            form,
            scanner,
            line: 0,
            found: 0..0,
            largest: LARGEST,
            trim: None,
            step: STEP,
            cutting: Cutting::default(),
            blocks: None,
        }
    }

    /// With lines that are shortened before they are scanned.
    pub fn trimmed(mut self, trim: Trim) -> Values<R> {
        self.trim = Some(trim);
        self
    }

    /// Lines of a file, which may be read in blocks instead.
    pub(super) fn in_blocks(mut self, blocks: Option<Blocks>) -> Values<R> {
        self.blocks = blocks;
        self
    }

    /// With another limit of a value's bytes.
    pub fn at_most(mut self, largest: usize) -> Values<R> {
        self.largest = largest.min(LARGEST);
        self
    }

    /// The value that was found last.
    pub fn value(&self) -> Option<Value<'_>> {
        if self.found.is_empty() && self.trim.is_some() {
            return Some(Value::missing_at_all());
        }
        self.scanner.value(&self.buffer[self.found.clone()])
    }

    /// Finds the next one.
    pub fn next(&mut self) -> io::Result<Option<Item>> {
        match self.form {
            Form::Lines => self.next_in_line(),
            Form::Ended => Ok(None),
            Form::Begin | Form::Row | Form::Array | Form::Behind => self.next_value(),
        }
    }

    /// Reads more; false at the end.
    pub(super) fn more(&mut self) -> io::Result<bool> {
        if self.eof {
            return Ok(false);
        }
        if self.holds_values() {
            return self.fill();
        }
        if self.start > 0 && (self.start == self.end || self.start >= self.buffer.len() / 2) {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end + self.step > self.buffer.len() {
            let larger = (self.end + self.step).max(self.buffer.len() + self.buffer.len() / 4);
            self.buffer.resize(larger, 0);
        }
        self.fill()
    }

    fn fill(&mut self) -> io::Result<bool> {
        let to = self.buffer.len().min(self.end + self.step);
        loop {
            match self.from.read(&mut self.buffer[self.end..to]) {
                Ok(0) => {
                    self.eof = true;
                    return Ok(false);
                }
                Ok(n) => {
                    self.end += n;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn next_in_line(&mut self) -> io::Result<Option<Item>> {
        loop {
            // The rest of the line before: another value, if two stand in one line.
            if self.line == 0 {
                match self.find_line()? {
                    None => return Ok(None),
                    Some(None) => return Ok(Some(Item::Large)),
                    Some(Some(length)) => self.line = length,
                }
            }
            let line = &self.buffer[self.start..self.start + self.line];
            let blank = line
                .iter()
                .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | 0xef | 0xbb | 0xbf))
                .count();
            self.start += blank;
            self.line -= blank;
            if self.line == 0 {
                continue;
            }
            let place = self.start..self.start + self.line;
            let ended = self.buffer[place.end - 1] == b'\n';
            let trim = self.trim.filter(|_| ended);
            let left = trim.map_or(self.line, |trim| trim(&mut self.buffer[place.clone()]));
            self.found = place.start..place.start + left;
            self.scanner.reset();
            let length = self.scanner.feed(&self.buffer[self.found.clone()], true);
            let taken = length.filter(|_| left == self.line).unwrap_or(self.line);
            self.start += taken;
            self.line -= taken;
            if left == 0 {
                return Ok(Some(Item::Passed));
            }
            if length.is_some() && self.value().is_some() {
                return Ok(Some(Item::Value));
            }
            // The rest of the line cannot be told apart from the value.
            self.start += self.line;
            self.line = 0;
            return Ok(Some(if ended { Item::Bad } else { Item::Torn }));
        }
    }

    /// The length of the next line with its newline; none in it if it is too long, none at all at the end.
    fn find_line(&mut self) -> io::Result<Option<Option<usize>>> {
        let mut seen = 0;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.start + seen..self.end]) {
                let length = seen + at + 1;
                if length > self.largest {
                    self.start += length;
                    return Ok(Some(None));
                }
                return Ok(Some(Some(length)));
            }
            seen = self.end - self.start;
            if seen > self.largest {
                self.skip_line()?;
                return Ok(Some(None));
            }
            if !self.more()? {
                let large = seen > self.largest;
                self.start += if large { seen } else { 0 };
                return Ok((seen > 0).then_some((!large).then_some(seen)));
            }
        }
    }

    pub(super) fn skip_line(&mut self) -> io::Result<()> {
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += at + 1;
                return Ok(());
            }
            self.start = self.end;
            if !self.more()? {
                return Ok(());
            }
        }
    }

    fn next_value(&mut self) -> io::Result<Option<Item>> {
        loop {
            let Some(&byte) = self.buffer[self.start..self.end].first() else {
                match self.more()? {
                    true => continue,
                    false => {
                        let torn = self.form == Form::Array;
                        self.form = Form::Ended;
                        return Ok(torn.then_some(Item::Torn));
                    }
                }
            };
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' | 0xef | 0xbb | 0xbf => self.start += 1,
                b'[' if self.form == Form::Begin => {
                    self.start += 1;
                    self.form = Form::Array;
                }
                b']' if self.form == Form::Array => {
                    self.start += 1;
                    self.form = Form::Behind;
                }
                _ if self.form == Form::Behind => {
                    self.form = Form::Ended;
                    return Ok(Some(Item::Behind));
                }
                _ => break,
            }
        }
        if self.form == Form::Begin {
            self.form = Form::Row;
        }
        self.scanner.reset();
        loop {
            if let Some(length) = self.scanner.feed(&self.buffer[self.start..self.end], self.eof) {
                self.found = self.start..self.start + length;
                self.start = self.found.end;
                if length > self.largest {
                    return Ok(Some(Item::Large));
                }
                return Ok(Some(if self.value().is_some() { Item::Value } else { Item::Bad }));
            }
            if self.end - self.start > self.largest {
                self.skip_value()?;
                return Ok(Some(Item::Large));
            }
            if !self.more()? && !self.scanner.ends(&self.buffer[self.start..self.end]) {
                self.form = Form::Ended;
                return Ok(Some(Item::Torn));
            }
        }
    }

    /// Steps over a value of which the scanner has seen all that is in the buffer.
    fn skip_value(&mut self) -> io::Result<()> {
        let (mut depth, mut string) = self.scanner.depth();
        // A backslash at the very end is looked at again with what follows it.
        let held = usize::from(string && self.buffer[self.end - 1] == b'\\' && self.odd_backslashes());
        let mut escaped = false;
        self.start = self.end - held;
        loop {
            while let Some(&byte) = self.buffer[self.start..self.end].first() {
                self.start += 1;
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' if string => escaped = true,
                    b'"' => string = !string,
                    b'{' | b'[' if !string => depth += 1,
                    b'}' | b']' if !string => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 && !string {
                    return Ok(());
                }
            }
            if !self.more()? {
                self.form = Form::Ended;
                return Ok(());
            }
        }
    }

    fn odd_backslashes(&self) -> bool {
        let seen = &self.buffer[self.start..self.end];
        seen.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
    }
}
