//! A file of lines in blocks, each of which is read by the thread that works on it: nothing is copied between
//! processors. A line belongs to the block that it begins in.
//!
//! The file is read as long as it was when it was opened: what is written to it later is left to the next import.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Empty};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use memchr::{memchr, memrchr};

use super::pieces::Odd;
use super::values::{Form, Trim, Values};

/// Bytes of a block: enough that handing one over, for which a thread may have to be woken, costs little beside reading it.
const BLOCK: usize = 1 << 20;

/// Bytes that are read at a time of a line that goes on behind its block, at first.
const MORE: usize = 1 << 14;

thread_local! {
    /// A buffer and a scanner, which are used for one block after the other.
    static LINES: Cell<Option<Values<Empty>>> = const { Cell::new(None) };
}

/// The blocks of a file that are not read yet.
pub(super) struct Blocks {
    file: Arc<File>,
    at: u64,
    length: u64,
    /// Bytes of a block.
    pub(super) step: usize,
}

/// One block.
pub struct Block {
    file: Arc<File>,
    from: u64,
    to: u64,
    /// The length of the file.
    length: u64,
    largest: usize,
    trim: Option<Trim>,
}

impl Blocks {
    /// Of a file of this length.
    pub(super) fn new(file: Arc<File>, length: u64) -> Blocks {
        Blocks { file, at: 0, length, step: BLOCK }
    }

    /// The next block, whose lines are at most so large and are shortened by `trim`.
    pub(super) fn next(&mut self, largest: usize, trim: Option<Trim>) -> Option<Block> {
        let (from, to) = (self.at, self.length.min(self.at + self.step as u64));
        if from == to {
            return None;
        }
        self.at = to;
        Some(Block { file: self.file.clone(), from, to, length: self.length, largest, trim })
    }
}

impl Block {
    /// The bytes between its ends.
    pub(super) fn len(&self) -> usize {
        (self.to - self.from) as usize
    }

    /// Gives its lines to `take`, all in memory; an error comes after the lines before it.
    pub(super) fn lines(self, take: impl FnOnce(&mut Values<Empty>) -> Odd) -> (Odd, io::Result<()>) {
        let mut lines = LINES.take().unwrap_or_else(|| Values::new(io::empty(), Form::Lines));
        let done = self.read(&mut lines);
        let odd = take(&mut lines);
        if lines.buffer.len() <= 2 * BLOCK {
            LINES.set(Some(lines));
        }
        (odd, done)
    }

    fn read(&self, lines: &mut Values<Empty>) -> io::Result<()> {
        (lines.eof, lines.largest, lines.trim) = (true, self.largest, self.trim);
        let buffer = &mut lines.buffer;
        // The byte before tells whether a line begins where the block does.
        let before = self.from.saturating_sub(1);
        let mut end = 0;
        let own = self.read_on(buffer, before, &mut end, (self.to - before) as usize);
        let start = match memchr(b'\n', &buffer[..end]) {
            _ if self.from == 0 => 0,
            Some(newline) => newline + 1,
            None => end,
        };
        let done = match own {
            Ok(true) if start < end => self.read_line(buffer, before, &mut end, start),
            own => own.map(|_| ()),
        };
        if done.is_err() {
            // Bytes of a line that an error cut off are no line, and not torn either.
            end = memrchr(b'\n', &buffer[start..end]).map_or(start, |newline| start + newline + 1);
        }
        (lines.start, lines.end) = (start, end);
        done
    }

    /// Reads so many bytes; false if the file ends before.
    fn read_on(&self, to: &mut Vec<u8>, from: u64, end: &mut usize, count: usize) -> io::Result<bool> {
        let left = usize::try_from(self.length - from).unwrap_or(usize::MAX);
        let whole = *end + count;
        let until = whole.min(left);
        if to.len() < until {
            to.resize(until, 0);
        }
        while *end < until {
            match self.file.read_at(&mut to[*end..until], from + *end as u64) {
                Ok(0) => return Ok(false),
                Ok(n) => *end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(until == whole)
    }

    /// Reads the last line to its end, or as far as it is not too large.
    fn read_line(&self, to: &mut Vec<u8>, from: u64, end: &mut usize, start: usize) -> io::Result<()> {
        let line = memrchr(b'\n', &to[start..*end]).map_or(start, |newline| start + newline + 1);
        if line == *end {
            return Ok(());
        }
        while *end - line <= self.largest {
            let seen = *end;
            let goes_on = self.read_on(to, from, end, MORE.max((seen - line) / 4));
            if let Some(newline) = memchr(b'\n', &to[seen..*end]) {
                *end = seen + newline + 1;
                return Ok(());
            }
            if !goes_on? {
                break;
            }
        }
        Ok(())
    }
}
