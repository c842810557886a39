//! A stream of values in pieces, which may be worked on anywhere: whole lines that are still to be scanned, or
//! values that are scanned, as only a scanner finds where they end; of a file of lines, blocks that are still to be
//! read.
//!
//! A piece is the buffer itself. Only what is cut through at its end is copied to the next one.

use std::io::{self, Empty, Read};
use std::ops::Range;

use memchr::memrchr;

use super::blocks::Block;
use super::json::Value;
use super::token::Token;
use super::values::{Form, Item, Values};

/// Buffers larger than this are not used again: one large value was in them.
const KEPT: usize = 1 << 20;

/// Values in one buffer, and items that are none.
#[derive(Default)]
pub struct Found {
    buffer: Vec<u8>,
    tokens: Vec<Token>,
    places: Vec<(Range<usize>, Range<usize>)>,
    odd: Odd,
}

/// Counts of items that are no values.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Odd {
    /// Not JSON.
    pub bad: u64,
    /// The file ends within one.
    pub torn: u64,
    /// Larger than what is read.
    pub large: u64,
    /// Behind the end of the document.
    pub behind: u64,
}

impl Odd {
    fn add(&mut self, item: Item) {
        match item {
            Item::Bad => self.bad += 1,
            Item::Torn => self.torn += 1,
            Item::Large => self.large += 1,
            Item::Behind => self.behind += 1,
            Item::Value | Item::Passed => {}
        }
    }
}

/// The state of a stream that is read in pieces.
#[derive(Default)]
pub(super) struct Cutting {
    /// Values of the buffer, which stays as it is because of them.
    here: Found,
    /// The buffer before, if it was left for another within a value.
    full: Option<Found>,
    /// The error that follows what was found before it.
    failed: Option<io::Error>,
    /// Buffers that are used up.
    pub(super) spare: Vec<Vec<u8>>,
}

/// A part of a stream.
pub enum Piece {
    /// Whole lines.
    Lines(Box<Values<Empty>>),
    /// Scanned values.
    Found(Found),
    /// A part of a file of lines that is still to be read.
    Block(Block),
}

/// Counts, buffer and error that a piece leaves besides its values.
pub struct Rest {
    /// Counts of items that are no values.
    pub odd: Odd,
    /// The buffer, which may be used again.
    pub buffer: Vec<u8>,
    /// The bytes that were read of the file by now, and not before.
    pub read: usize,
    /// The error that follows the values.
    pub failed: Option<io::Error>,
}

impl Piece {
    /// The bytes it holds.
    pub fn bytes(&self) -> usize {
        match self {
            Piece::Lines(lines) => lines.buffer.len(),
            Piece::Found(found) => found.buffer.len() + found.tokens.len() * size_of::<Token>(),
            Piece::Block(block) => block.len(),
        }
    }

    /// Gives its values to `take`, in order.
    pub fn each(self, mut take: impl FnMut(Value<'_>)) -> Rest {
        match self {
            Piece::Found(found) => {
                for (place, tokens) in found.places {
                    take(Value::new(&found.buffer[place], &found.tokens[tokens]));
                }
                Rest { odd: found.odd, buffer: small(found.buffer), read: 0, failed: None }
            }
            Piece::Lines(mut lines) => {
                let odd = each_line(&mut lines, take);
                Rest { odd, buffer: small(lines.buffer), read: 0, failed: None }
            }
            Piece::Block(block) => {
                let read = block.len();
                let (odd, done) = block.lines(|lines| each_line(lines, take));
                Rest { odd, buffer: Vec::new(), read, failed: done.err() }
            }
        }
    }
}

fn each_line(lines: &mut Values<Empty>, mut take: impl FnMut(Value<'_>)) -> Odd {
    let mut odd = Odd::default();
    // It is all in memory, so no error is possible.
    while let Ok(Some(item)) = lines.next() {
        match (item, lines.value()) {
            (Item::Value | Item::Passed, Some(value)) => take(value),
            _ => odd.add(item),
        }
    }
    odd
}

/// A buffer that may be used again; none instead of a large one.
fn small(buffer: Vec<u8>) -> Vec<u8> {
    if buffer.len() > KEPT { Vec::new() } else { buffer }
}

impl<R: Read> Values<R> {
    /// With so many bytes read at a time.
    #[cfg(test)]
    pub fn by(mut self, step: usize) -> Values<R> {
        self.step = step;
        self.blocks.iter_mut().for_each(|blocks| blocks.step = step);
        self
    }

    /// The next piece. An error comes after all that was read before it.
    pub fn piece(&mut self) -> io::Result<Option<Piece>> {
        if let Some(error) = self.cutting.failed.take() {
            return Err(error);
        }
        // Blocks begin at the beginning of the file.
        if let (Some(blocks), true) = (&mut self.blocks, self.buffer.is_empty()) {
            return Ok(blocks.next(self.largest, self.trim).map(Piece::Block));
        }
        if self.form == Form::Lines {
            self.lines_piece()
        } else {
            Ok(self.scanned_piece()?.map(Piece::Found))
        }
    }

    fn scanned_piece(&mut self) -> io::Result<Option<Found>> {
        loop {
            if self.buffer.len() > KEPT && !self.cutting.here.places.is_empty() {
                // Nothing more is read as long as a large value is there.
                self.leave();
                return Ok(self.cutting.full.take());
            }
            let item = self.next();
            let full = self.cutting.full.take();
            let goes_on = matches!(item, Ok(Some(_)));
            let here = &mut self.cutting.here;
            match item {
                Ok(Some(Item::Value)) => {
                    let tokens = self.scanner.hand_over(&mut here.tokens);
                    here.places.push((self.found.clone(), tokens));
                }
                Ok(Some(other)) => here.odd.add(other),
                Ok(None) => {}
                Err(error) => self.cutting.failed = Some(error),
            }
            if full.is_some() {
                return Ok(full);
            }
            if goes_on {
                continue;
            }
            // The end of what can be read.
            let last =
                Found { buffer: std::mem::take(&mut self.buffer), ..std::mem::take(&mut self.cutting.here) };
            (self.start, self.end) = (0, 0);
            return match (last.places.is_empty() && last.odd == Odd::default(), self.cutting.failed.take()) {
                (true, Some(error)) => Err(error),
                (true, None) => Ok(None),
                (false, failed) => {
                    self.cutting.failed = failed;
                    Ok(Some(last))
                }
            };
        }
    }

    /// Prepares to read on behind values that stay in the buffer: true if there is room in it; else it is left for
    /// another one.
    pub(super) fn holds_values(&mut self) -> bool {
        if self.cutting.here.places.is_empty() {
            return false;
        }
        if self.buffer.len() - self.end > self.step / 4 {
            return true;
        }
        self.leave();
        false
    }

    /// Leaves the buffer, with the values in it, for another one that begins with what is cut through.
    fn leave(&mut self) {
        let buffer = self.change_buffer(self.start);
        self.cutting.full = Some(Found { buffer, ..std::mem::take(&mut self.cutting.here) });
    }

    /// Goes on with another buffer, which begins with the bytes from this place on; the one before.
    fn change_buffer(&mut self, from: usize) -> Vec<u8> {
        let rest = &self.buffer[from..self.end];
        let mut next = self.cutting.spare.pop().unwrap_or_default();
        if next.len() < rest.len() {
            next.resize(rest.len(), 0);
        }
        next[..rest.len()].copy_from_slice(rest);
        (self.start, self.end) = (0, rest.len());
        std::mem::replace(&mut self.buffer, next)
    }

    fn lines_piece(&mut self) -> io::Result<Option<Piece>> {
        let mut seen = 0;
        loop {
            let more = self.more();
            let fresh = &self.buffer[self.start + seen..self.end];
            let whole = memrchr(b'\n', fresh).map(|at| seen + at + 1);
            seen = self.end - self.start;
            let length = match (whole, more) {
                (Some(length), more) => {
                    self.cutting.failed = more.err();
                    length
                }
                (None, Err(error)) => return Err(error),
                (None, Ok(true)) if seen <= self.largest => continue,
                (None, Ok(true)) => {
                    self.skip_line()?;
                    let odd = Odd { large: 1, ..Odd::default() };
                    return Ok(Some(Piece::Found(Found { odd, ..Found::default() })));
                }
                (None, Ok(false)) if seen == 0 => return Ok(None),
                (None, Ok(false)) => seen,
            };
            return Ok(Some(Piece::Lines(Box::new(self.cut_off(length)))));
        }
    }

    /// Gives the first bytes of the buffer away.
    fn cut_off(&mut self, length: usize) -> Values<Empty> {
        let (from, to) = (self.start, self.start + length);
        let mut lines = Values::new(io::empty(), Form::Lines);
        lines.buffer = self.change_buffer(to);
        (lines.start, lines.end, lines.eof) = (from, to, true);
        (lines.largest, lines.trim) = (self.largest, self.trim);
        lines
    }

    /// Takes a buffer back.
    pub fn give_back(&mut self, buffer: Vec<u8>) {
        if !buffer.is_empty() {
            self.cutting.spare.push(buffer);
        }
    }
}
