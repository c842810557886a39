//! The JSON values of a stream: lines, the elements of one array, or values in a row.
//!
//! A stream is cut into whole texts, each a line or a value by its brackets alone; then each is scanned. What is too
//! large, torn or no JSON is counted and stepped over.

use std::io::{self, Read};
use std::ops::Range;

use memchr::{memchr, memchr2};

use super::json::Value;
use super::scanner::{Scanner, ends_scalar};

/// Bytes of one value, at most. A conversation is one value in an export.
const LARGEST: usize = 1 << 30;

/// Bytes read at a time.
const STEP: usize = 1 << 18;

/// Counts of texts that have no value.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Odd {
    /// Not JSON.
    pub bad: u64,
    /// The file ends within one.
    pub torn: u64,
    /// Larger than what is read.
    pub large: u64,
    /// Behind the end of the array; it is not read.
    pub behind: u64,
}

impl Odd {
    fn add(&mut self, other: Odd) {
        self.bad += other.bad;
        self.torn += other.torn;
        self.large += other.large;
        self.behind += other.behind;
    }
}

/// The way values are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// By newlines; what is wrong with one line does not touch the next.
    Lines,
    /// By their own ends; not known yet whether in one array.
    Begin,
    Row,
    Array,
    /// Behind the end of the array.
    Behind,
}

/// The part of a value that the bytes so far end in.
#[derive(Debug, Clone, Copy)]
enum Within {
    /// So many brackets are open. None: the value has ended.
    Brackets(usize),
    /// A string in so many brackets.
    String(usize),
    /// A number or a word that stands by itself.
    Scalar,
}

/// The values of a stream.
pub struct Values<R> {
    from: R,
    form: Form,
    /// Of a value that is begun; lines are none.
    within: Option<Within>,
    /// Bytes of a text that the batch before cut through.
    rest: Vec<u8>,
    /// The place up to which these are looked at.
    seen: usize,
    /// The text is larger than what is read: its beginning was let go.
    dropped: bool,
    ended: bool,
    /// The error that follows what was read before it.
    failed: Option<io::Error>,
    largest: usize,
    step: usize,
    batch: Batch,
}

/// Whole texts of a stream, each a line or a value.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    texts: Vec<Range<usize>>,
    /// The last text is a line that the end of the file ends: what is no JSON there is torn.
    open: bool,
    /// Texts without a value that were met so far.
    odd: Odd,
    /// The text that the next value is in.
    next: usize,
    /// The value that was found last.
    found: Range<usize>,
    scanner: Scanner,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.odd == Odd::default()
    }

    /// Finds the next value; false if there is none. A line may hold several.
    fn advance(&mut self) -> bool {
        let count = self.texts.len();
        while let Some(text) = self.texts.get_mut(self.next) {
            text.start += between(&self.bytes[text.clone()]);
            if text.start == text.end {
                self.next += 1;
                continue;
            }
            if let Some(length) = self.scanner.scan(&self.bytes[text.clone()]) {
                self.found = text.start..text.start + length;
                text.start = self.found.end;
                return true;
            }
            // The rest of a line cannot be told apart from it.
            self.next += 1;
            match self.open && self.next == count {
                true => self.odd.torn += 1,
                false => self.odd.bad += 1,
            }
        }
        false
    }

    fn value(&self) -> Value<'_> {
        self.scanner.value(&self.bytes[self.found.clone()])
    }
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

    fn new(from: R, form: Form) -> Values<R> {
        Values {
            from,
            form,
            within: None,
            rest: Vec::new(),
            seen: 0,
            dropped: false,
            ended: false,
            failed: None,
            largest: LARGEST,
            step: STEP,
            batch: Batch::default(),
        }
    }

    /// With another limit of a text's bytes.
    pub fn at_most(mut self, largest: usize) -> Values<R> {
        self.largest = largest.min(LARGEST);
        self
    }

    /// With so many bytes read at a time.
    #[cfg(test)]
    pub fn by(mut self, step: usize) -> Values<R> {
        self.step = step;
        self
    }

    /// Finds the next value, which [`Values::value`] gives; false at the end. Texts without a value are added to `odd`.
    pub fn advance(&mut self, odd: &mut Odd) -> io::Result<bool> {
        loop {
            let is_found = self.batch.advance();
            odd.add(std::mem::take(&mut self.batch.odd));
            if is_found {
                return Ok(true);
            }
            match self.next_batch()? {
                Some(batch) => self.batch = batch,
                None => return Ok(false),
            }
        }
    }

    /// The value that was found.
    pub fn value(&self) -> Value<'_> {
        self.batch.value()
    }

    /// The next batch. An error comes after all that was read before it.
    fn next_batch(&mut self) -> io::Result<Option<Batch>> {
        let (mut batch, mut bytes) = (Batch::default(), std::mem::take(&mut self.rest));
        let mut start = 0;
        while batch.is_empty() && !self.ended {
            bytes.drain(..start);
            self.seen -= start;
            bytes.reserve(self.step);
            match self.from.by_ref().take(self.step as u64).read_to_end(&mut bytes) {
                Ok(read) => self.ended = read < self.step,
                Err(error) => (self.ended, self.failed) = (true, Some(error)),
            }
            let whole = self.ended && self.failed.is_none();
            start = match self.form {
                Form::Lines => self.cut_lines(&bytes, whole, &mut batch),
                _ => self.cut_values(&bytes, whole, &mut batch),
            };
            if bytes.len() - start > self.largest {
                bytes.drain(start..self.seen);
                (self.seen, self.dropped) = (start, true);
            }
        }
        if batch.is_empty() {
            return self.failed.take().map_or(Ok(None), Err);
        }
        self.rest = bytes.split_off(start);
        self.seen -= start;
        batch.bytes = bytes;
        Ok(Some(batch))
    }

    /// Takes a text, unless it is too large.
    fn take(&mut self, text: Range<usize>, batch: &mut Batch) {
        match std::mem::take(&mut self.dropped) || text.len() > self.largest {
            true => batch.odd.large += 1,
            false => batch.texts.push(text),
        }
    }

    /// Takes whole lines; the place where the next one begins. `whole`: nothing is behind these bytes.
    fn cut_lines(&mut self, bytes: &[u8], whole: bool, batch: &mut Batch) -> usize {
        let mut start = 0;
        while let Some(length) = memchr(b'\n', &bytes[self.seen..]) {
            self.seen += length + 1;
            self.take(start..self.seen, batch);
            start = self.seen;
        }
        self.seen = bytes.len();
        if whole && (start < self.seen || self.dropped) {
            batch.open = !self.dropped && self.seen - start <= self.largest;
            self.take(start..self.seen, batch);
            start = self.seen;
        }
        start
    }

    /// Takes whole values; the place where the next one begins.
    fn cut_values(&mut self, bytes: &[u8], whole: bool, batch: &mut Batch) -> usize {
        let mut start = 0;
        loop {
            if self.within.is_none() {
                self.seen += between(&bytes[self.seen..]);
                start = self.seen;
                let Some(&byte) = bytes.get(start) else {
                    batch.odd.torn += u64::from(whole && self.form == Form::Array);
                    return start;
                };
                self.seen += 1;
                self.within = Some(match (byte, self.form) {
                    (b'[', Form::Begin) => {
                        self.form = Form::Array;
                        continue;
                    }
                    (b']', Form::Array) => {
                        self.form = Form::Behind;
                        continue;
                    }
                    (_, Form::Behind) => {
                        batch.odd.behind += 1;
                        // It is not read, nor is what is wrong with it.
                        (self.ended, self.failed, self.seen) = (true, None, bytes.len());
                        return bytes.len();
                    }
                    (b'{' | b'[', _) => Within::Brackets(1),
                    (b'}' | b']', _) => Within::Brackets(0),
                    (b'"', _) => Within::String(0),
                    _ => Within::Scalar,
                });
                if self.form == Form::Begin {
                    self.form = Form::Row;
                }
            }
            if self.finds_end(bytes, whole) {
                self.take(start..self.seen, batch);
            } else if whole {
                match self.dropped {
                    true => batch.odd.large += 1,
                    false => batch.odd.torn += 1,
                }
                return bytes.len();
            } else {
                return start;
            }
        }
    }

    /// Looks on for the end of a value, by its brackets alone.
    fn finds_end(&mut self, bytes: &[u8], whole: bool) -> bool {
        while let Some(within) = self.within {
            let rest = &bytes[self.seen..];
            let (length, goes_on) = match within {
                Within::Brackets(0) => (Some(0), None),
                Within::Brackets(open) => {
                    let at = rest.iter().position(|byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'));
                    let within = at.map(|at| match rest[at] {
                        b'"' => Within::String(open),
                        b'{' | b'[' => Within::Brackets(open + 1),
                        _ => Within::Brackets(open - 1),
                    });
                    (at.map(|at| at + 1), within)
                }
                Within::String(open) => match memchr2(b'"', b'\\', rest) {
                    Some(at) if rest[at] == b'"' => (Some(at + 1), Some(Within::Brackets(open))),
                    Some(at) if at + 1 < rest.len() => (Some(at + 2), Some(within)),
                    // The escape is looked at again with what follows it.
                    Some(at) => {
                        self.seen += at;
                        return false;
                    }
                    None => (None, None),
                },
                Within::Scalar => {
                    let end = rest.iter().position(|&byte| ends_scalar(byte));
                    (end.or(whole.then_some(rest.len())), None)
                }
            };
            let Some(length) = length else {
                self.seen = bytes.len();
                return false;
            };
            self.seen += length;
            self.within = goes_on;
        }
        true
    }
}

/// The number of bytes that may stand between two values, at the beginning of these: the mark of an encoding too.
fn between(bytes: &[u8]) -> usize {
    let is_between =
        |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' | 0xef | 0xbb | 0xbf);
    bytes.iter().take_while(is_between).count()
}
