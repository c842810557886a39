//! The JSON values of a stream: lines, the elements of an array, or a sequence of values.
//!
//! A stream is cut into complete texts, each a line or a value by its brackets alone; then each is scanned. Texts that
//! are too large, incomplete or malformed are counted and skipped.

use std::io::{self, Read};
use std::ops::Range;

use memchr::{memchr, memchr2};

use super::json::{JsonValue, Scanner, ends_scalar};

/// Maximum bytes of a value. A conversation is a single value in an export.
const LARGEST: usize = 1 << 30;

/// Bytes read at a time.
const STEP: usize = 1 << 18;

/// Number of times that a malformed line is scanned for another record.
const TRIES: usize = 8;

/// Counts of texts without a value.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct InvalidCounts {
    /// Not JSON.
    pub bad: u64,
    /// Cut off by the end of the file.
    pub torn: u64,
    /// Larger than the limit.
    pub large: u64,
    /// After the end of the array; not read.
    pub trailing: u64,
}

impl InvalidCounts {
    fn add(&mut self, other: InvalidCounts) {
        self.bad += other.bad;
        self.torn += other.torn;
        self.large += other.large;
        self.trailing += other.trailing;
    }
}

/// How values are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueLayout {
    /// By newlines; an error in a line does not affect the next.
    Lines,
    /// By their own ends; not yet known whether in an array.
    Begin,
    Row,
    Array,
    /// After the end of the array.
    AfterArray,
}

/// The part of a value at which the bytes so far end.
#[derive(Debug, Clone, Copy)]
enum OpenToken {
    /// Number of open brackets. At zero the value has ended.
    Brackets(usize),
    /// In a string, with this number of open brackets.
    String(usize),
    /// In a top-level number or literal.
    Scalar,
}

pub struct ValueReader<R> {
    from: R,
    form: ValueLayout,
    /// State in an incomplete value; unused for lines.
    within: Option<OpenToken>,
    /// Bytes of a text that the previous batch cut.
    rest: Vec<u8>,
    /// Offset in `rest` up to which it was searched.
    scanned: usize,
    /// The text exceeds the limit, and its start was discarded.
    dropped: bool,
    has_ended: bool,
    /// A read error, to return after the values read before it.
    error: Option<io::Error>,
    largest: usize,
    step: usize,
    batch: ValueBatch,
}

/// Complete texts of a stream, each a line or a value.
#[derive(Default)]
struct ValueBatch {
    bytes: Vec<u8>,
    texts: Vec<Range<usize>>,
    /// The last text is a line without a newline at the end of the file: if malformed, it counts as torn.
    open: bool,
    /// Counts of texts without a value so far.
    odd: InvalidCounts,
    /// Index of the text with the next value.
    next: usize,
    /// The last value found.
    range: Range<usize>,
    scanner: Scanner,
}

impl ValueBatch {
    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.odd == InvalidCounts::default()
    }

    /// Finds the next value; false at the end. A line may have several.
    fn advance(&mut self) -> bool {
        let count = self.texts.len();
        while let Some(text) = self.texts.get_mut(self.next) {
            let skipped = text.start..text.start + between(&self.bytes[text.clone()]);
            text.start = skipped.end;
            self.odd.bad += u64::from(memchr(0, &self.bytes[skipped]).is_some());
            if text.start == text.end {
                self.next += 1;
                continue;
            }
            if let Some(length) = self.scanner.scan(&self.bytes[text.clone()]) {
                self.range = text.start..text.start + length;
                text.start = self.range.end;
                return true;
            }
            let text = text.clone();
            let is_open = self.open && self.next + 1 == count;
            match self.record_after(&text) {
                // An interrupted write has no line end: the next record follows on the same line.
                Some(start) => {
                    self.texts[self.next].start = start;
                    self.odd.bad += 1;
                }
                None => {
                    self.next += 1;
                    match is_open {
                        true => self.odd.torn += 1,
                        false => self.odd.bad += 1,
                    }
                }
            }
        }
        false
    }

    /// Returns the offset of the record that follows a malformed one and extends to the end of the line. Both have the same
    /// first key, which a value within the malformed record seldom has.
    fn record_after(&mut self, text: &Range<usize>) -> Option<usize> {
        let bytes = &self.bytes[text.clone()];
        let inside = bytes.strip_prefix(b"{\"")?;
        let first_key = bytes.get(..memchr(b'"', inside)? + 3)?;
        // Values that are not closed are each scanned to the end of the line.
        let mut budget = bytes.len().saturating_mul(TRIES);
        for start in memchr::memmem::find_iter(bytes, first_key).skip(1) {
            let record = bytes.get(start..).unwrap_or_default();
            let scanned = self.scanner.scan(record);
            let is_last = |length| between(record.get(length..).unwrap_or_default()) + length == record.len();
            if scanned.is_some_and(is_last) {
                return Some(text.start + start);
            }
            budget = budget.checked_sub(scanned.unwrap_or(record.len()))?;
        }
        None
    }

    fn value(&self) -> JsonValue<'_> {
        self.scanner.value(&self.bytes[self.range.clone()])
    }
}

impl<R: Read> ValueReader<R> {
    /// Reads one value a line.
    pub fn lines(from: R) -> ValueReader<R> {
        ValueReader::new(from, ValueLayout::Lines)
    }

    /// Reads the elements of an array, or, if the stream starts with another value, a sequence of values.
    pub fn sequence(from: R) -> ValueReader<R> {
        ValueReader::new(from, ValueLayout::Begin)
    }

    fn new(from: R, form: ValueLayout) -> ValueReader<R> {
        ValueReader {
            from,
            form,
            within: None,
            rest: Vec::new(),
            scanned: 0,
            dropped: false,
            has_ended: false,
            error: None,
            largest: LARGEST,
            step: STEP,
            batch: ValueBatch::default(),
        }
    }

    /// Sets the limit of a text's bytes.
    pub fn at_most(mut self, largest: usize) -> ValueReader<R> {
        self.largest = largest.min(LARGEST);
        self
    }

    /// Sets the bytes read at a time.
    #[cfg(test)]
    pub fn by(mut self, step: usize) -> ValueReader<R> {
        self.step = step;
        self
    }

    /// Finds the next value, which [`ValueReader::value`] returns; false at the end. Texts without a value are added to
    /// `odd`.
    pub fn advance(&mut self, odd: &mut InvalidCounts) -> io::Result<bool> {
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

    pub fn value(&self) -> JsonValue<'_> {
        self.batch.value()
    }

    /// Reads the next batch. A read error is returned after all values read before it.
    fn next_batch(&mut self) -> io::Result<Option<ValueBatch>> {
        let (mut batch, mut bytes) = (ValueBatch::default(), std::mem::take(&mut self.rest));
        let mut start = 0;
        while batch.is_empty() && !self.has_ended {
            bytes.drain(..start);
            self.scanned -= start;
            bytes.reserve(self.step);
            match self.from.by_ref().take(self.step as u64).read_to_end(&mut bytes) {
                Ok(read) => self.has_ended = read < self.step,
                Err(error) => (self.has_ended, self.error) = (true, Some(error)),
            }
            let is_whole = self.has_ended && self.error.is_none();
            start = match self.form {
                ValueLayout::Lines => self.cut_lines(&bytes, is_whole, &mut batch),
                _ => self.cut_values(&bytes, is_whole, &mut batch),
            };
            if bytes.len() - start > self.largest {
                bytes.drain(start..self.scanned);
                (self.scanned, self.dropped) = (start, true);
            }
        }
        if batch.is_empty() {
            return self.error.take().map_or(Ok(None), Err);
        }
        self.rest = bytes.split_off(start);
        self.scanned -= start;
        batch.bytes = bytes;
        Ok(Some(batch))
    }

    /// Adds a text, or counts it if it is too large.
    fn accept_text(&mut self, text: Range<usize>, batch: &mut ValueBatch) {
        match std::mem::take(&mut self.dropped) || text.len() > self.largest {
            true => batch.odd.large += 1,
            false => batch.texts.push(text),
        }
    }

    /// Adds complete lines, and returns the start of the next. `is_whole`: the stream ends after these bytes.
    fn cut_lines(&mut self, bytes: &[u8], is_whole: bool, batch: &mut ValueBatch) -> usize {
        let mut start = 0;
        while let Some(length) = memchr(b'\n', &bytes[self.scanned..]) {
            self.scanned += length + 1;
            self.accept_text(start..self.scanned, batch);
            start = self.scanned;
        }
        self.scanned = bytes.len();
        if is_whole && (start < self.scanned || self.dropped) {
            batch.open = !self.dropped && self.scanned - start <= self.largest;
            self.accept_text(start..self.scanned, batch);
            start = self.scanned;
        }
        start
    }

    /// Adds complete values, and returns the start of the next.
    fn cut_values(&mut self, bytes: &[u8], is_whole: bool, batch: &mut ValueBatch) -> usize {
        let mut start = 0;
        loop {
            if self.within.is_none() {
                self.scanned += between(&bytes[self.scanned..]);
                start = self.scanned;
                let Some(&byte) = bytes.get(start) else {
                    batch.odd.torn += u64::from(is_whole && self.form == ValueLayout::Array);
                    return start;
                };
                self.scanned += 1;
                self.within = Some(match (byte, self.form) {
                    (b'[', ValueLayout::Begin) => {
                        self.form = ValueLayout::Array;
                        continue;
                    }
                    (b']', ValueLayout::Array) => {
                        self.form = ValueLayout::AfterArray;
                        continue;
                    }
                    (_, ValueLayout::AfterArray) => {
                        batch.odd.trailing += 1;
                        // The rest is not read, and errors in it are ignored.
                        (self.has_ended, self.error, self.scanned) = (true, None, bytes.len());
                        return bytes.len();
                    }
                    (b'{' | b'[', _) => OpenToken::Brackets(1),
                    (b'}' | b']', _) => OpenToken::Brackets(0),
                    (b'"', _) => OpenToken::String(0),
                    _ => OpenToken::Scalar,
                });
                if self.form == ValueLayout::Begin {
                    self.form = ValueLayout::Row;
                }
            }
            if self.finds_end(bytes, is_whole) {
                self.accept_text(start..self.scanned, batch);
            } else if is_whole {
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

    /// Continues the search for the end of a value, by its brackets alone.
    fn finds_end(&mut self, bytes: &[u8], is_whole: bool) -> bool {
        while let Some(within) = self.within {
            let rest = &bytes[self.scanned..];
            let (length, goes_on) = match within {
                OpenToken::Brackets(0) => (Some(0), None),
                OpenToken::Brackets(open) => {
                    let at = rest.iter().position(|byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'));
                    let within = at.map(|at| match rest[at] {
                        b'"' => OpenToken::String(open),
                        b'{' | b'[' => OpenToken::Brackets(open + 1),
                        _ => OpenToken::Brackets(open - 1),
                    });
                    (at.map(|at| at + 1), within)
                }
                OpenToken::String(open) => match memchr2(b'"', b'\\', rest) {
                    Some(at) if rest[at] == b'"' => (Some(at + 1), Some(OpenToken::Brackets(open))),
                    Some(at) if at + 1 < rest.len() => (Some(at + 2), Some(within)),
                    // The escape is scanned again once the byte after it has been read.
                    Some(at) => {
                        self.scanned += at;
                        return false;
                    }
                    None => (None, None),
                },
                OpenToken::Scalar => {
                    let end = rest.iter().position(|&byte| ends_scalar(byte));
                    (end.or(is_whole.then_some(rest.len())), None)
                }
            };
            let Some(length) = length else {
                self.scanned = bytes.len();
                return false;
            };
            self.scanned += length;
            self.within = goes_on;
        }
        true
    }
}

/// Counts the bytes at the start that may separate values, including a byte order mark, and the NUL characters that a
/// power cut leaves where bytes of a log were not written.
fn between(bytes: &[u8]) -> usize {
    let is_between =
        |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' | 0 | 0xef | 0xbb | 0xbf);
    bytes.iter().take_while(is_between).count()
}
