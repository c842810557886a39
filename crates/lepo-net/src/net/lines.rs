//! Splits bytes that come from a network into lines: newline-delimited JSON, and the lines below server-sent events.
//!
//! A read may end anywhere, even inside a character, so bytes are decoded only once a line is whole.
//! Lines that lie whole in one read are not copied.

use memchr::memchr;

use lepo_base::error::{Error, Result};

/// The longest line or event that is taken: 16 MiB.
pub const LIMIT: usize = 16 << 20;

/// Splits bytes into lines that end in LF or CRLF; a byte order mark at the start is dropped.
#[derive(Default)]
pub struct Lines {
    partial: Vec<u8>,
    begun: bool,
}

impl Lines {
    /// Calls `line` on every line that `bytes` completes, without its line end.
    pub fn feed(&mut self, mut bytes: &[u8], mut line: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        while let Some(end) = memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.partial.is_empty() {
                bounded(head.len())?;
                line(self.bare(head))?;
            } else {
                bounded(self.partial.len() + head.len())?;
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(head);
                line(self.bare(&whole))?;
                whole.clear();
                self.partial = whole;
            }
        }
        bounded(self.partial.len() + bytes.len())?;
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    /// Calls `line` on a last line that had no line end.
    pub fn end(&mut self, mut line: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let last = std::mem::take(&mut self.partial);
        if last.is_empty() { Ok(()) } else { line(self.bare(&last)) }
    }

    fn bare<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if std::mem::replace(&mut self.begun, true) {
            return line;
        }
        line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
    }
}

/// Refuses a line or event of more than [`LIMIT`] bytes.
pub(super) fn bounded(length: usize) -> Result<()> {
    if length <= LIMIT {
        return Ok(());
    }
    Err(Error::remote("a line of the answer is longer than 16 MiB")
        .hint("check that `provider` and `base_url` belong together"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_line_is_an_error() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; 1 << 20];
        let failed = (0..17).find_map(|_| lines.feed(&piece, |_| Ok(())).err());
        assert!(failed.is_some_and(|e| e.message.contains("16 MiB")));
    }
}
