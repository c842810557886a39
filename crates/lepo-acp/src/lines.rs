//! Splits bytes into lines of bounded length. A longer line is reported once and skipped.

use memchr::memchr;

/// Maximum length of a line to read: 64 MiB.
pub const LONGEST_READ: usize = 64 << 20;

/// A line, or the fact that a line was too long.
#[derive(Debug, PartialEq, Eq)]
pub enum BoundedLine<'l> {
    /// Its bytes, without the line end.
    Whole(&'l [u8]),
    /// The line is longer than the limit.
    TooLong,
}

/// Collects lines from bytes that arrive in pieces of any size.
#[derive(Debug)]
pub struct LineBuffer {
    limit: usize,
    partial: Vec<u8>,
    /// The remainder of a line that was too long is being skipped.
    skips: bool,
}

impl LineBuffer {
    /// Creates an empty buffer for lines of up to `limit` bytes.
    pub fn new(limit: usize) -> LineBuffer {
        LineBuffer { limit, partial: Vec::new(), skips: false }
    }

    /// Calls `line` for every line that ends in these bytes.
    pub fn feed(&mut self, mut bytes: &[u8], mut line: impl FnMut(BoundedLine<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            self.push(head, &mut line);
            self.finish(&mut line);
        }
        self.push(bytes, &mut line);
    }

    /// Calls `line` for a last line without a line end.
    pub fn finish(&mut self, mut line: impl FnMut(BoundedLine<'_>)) {
        if !std::mem::take(&mut self.skips) {
            line(BoundedLine::Whole(&self.partial));
        }
        // Frees the memory of a long line.
        self.partial.clear();
        self.partial.shrink_to(64 << 10);
    }

    /// Whether the buffer contains a part of an incomplete line.
    pub fn is_open(&self) -> bool {
        !self.partial.is_empty()
    }

    fn push(&mut self, bytes: &[u8], line: &mut impl FnMut(BoundedLine<'_>)) {
        if self.skips {
            return;
        }
        if self.partial.len() + bytes.len() > self.limit {
            self.partial = Vec::new();
            self.skips = true;
            return line(BoundedLine::TooLong);
        }
        self.partial.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(limit: usize, pieces: &[&str]) -> Vec<String> {
        let mut buffer = LineBuffer::new(limit);
        let mut lines = Vec::new();
        let mut note = |line: BoundedLine<'_>| {
            lines.push(match line {
                BoundedLine::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                BoundedLine::TooLong => "TOO LONG".into(),
            });
        };
        for piece in pieces {
            buffer.feed(piece.as_bytes(), &mut note);
        }
        buffer.finish(&mut note);
        lines
    }

    #[test]
    fn lines_come_whole_however_the_bytes_come() {
        assert_eq!(read(9, &["a\nb", "c\n\nd"]), ["a", "bc", "", "d"]);
        assert_eq!(read(3, &["abc\nabcd\nx\n"]), ["abc", "TOO LONG", "x", ""]);
        assert_eq!(read(3, &["ab", "cd", "ef", "g\nx"]), ["TOO LONG", "x"]);
        assert_eq!(read(3, &["abcd"]), ["TOO LONG"]);
    }
}
