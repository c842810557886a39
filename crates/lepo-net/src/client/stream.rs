//! Reads network bytes in pieces of any size: as lines (newline-delimited JSON), and as server-sent events (WHATWG
//! HTML, section 9.2), which consist of lines.
//!
//! A read may end anywhere, even inside a character, so bytes are decoded only after a line is complete. A line that is
//! entirely in one read is not copied.

use memchr::{memchr, memchr2};

use lepo_base::error::{Error, Result};

/// Maximum length of a line or an event: 16 MiB.
pub const LIMIT: usize = 16 << 20;

/// Splits bytes into lines that end in LF or CRLF; a byte order mark at the start is dropped.
#[derive(Default)]
pub struct LineSplitter {
    partial: Vec<u8>,
    has_begun: bool,
    /// A CR alone ends a line too.
    ends_at_cr: bool,
    /// The last line ended in a CR: an LF after it belongs to it.
    after_cr: bool,
}

impl LineSplitter {
    /// Creates a splitter for server-sent events, whose lines may end in a CR alone.
    fn with_cr() -> LineSplitter {
        LineSplitter { ends_at_cr: true, ..LineSplitter::default() }
    }

    /// Returns the offset of the next line end.
    fn line_end(&self, bytes: &[u8]) -> Option<usize> {
        if self.ends_at_cr { memchr2(b'\n', b'\r', bytes) } else { memchr(b'\n', bytes) }
    }

    /// Calls `line` on every line that `bytes` completes, without its line end.
    pub fn feed(&mut self, mut bytes: &[u8], mut line: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = self.line_end(bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.ends_at_cr && rest.starts_with(b"\r") {
                self.after_cr = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
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
    pub fn finish(&mut self, mut line: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let last = std::mem::take(&mut self.partial);
        if last.is_empty() { Ok(()) } else { line(self.bare(&last)) }
    }

    fn bare<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if std::mem::replace(&mut self.has_begun, true) {
            return line;
        }
        line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
    }
}

/// An item of a stream of server-sent events.
pub enum SseFrame<'a> {
    /// An event.
    Event(SseEvent<'a>),
    /// A line that is not an SSE field, for the error message if no event follows.
    Stray(&'a [u8]),
}

/// An event of a stream.
pub struct SseEvent<'a> {
    /// The name from its `event` line; empty by default.
    pub name: &'a [u8],
    /// Its data lines, joined by LF.
    pub data: &'a [u8],
}

/// Server-sent events (WHATWG HTML, section 9.2): comments, `id` and `retry` are skipped.
pub struct SseParser {
    lines: LineSplitter,
    event: PartialEvent,
}

impl Default for SseParser {
    fn default() -> SseParser {
        SseParser { lines: LineSplitter::with_cr(), event: PartialEvent::default() }
    }
}

impl SseParser {
    /// Calls `frame` on every event that `bytes` completes.
    pub fn feed(&mut self, bytes: &[u8], mut frame: impl FnMut(SseFrame<'_>) -> Result<()>) -> Result<()> {
        let SseParser { lines, event } = self;
        lines.feed(bytes, |line| event.line(line, &mut frame))
    }

    /// Calls `frame` on a last event without an empty line after it, which many servers omit.
    pub fn finish(&mut self, mut frame: impl FnMut(SseFrame<'_>) -> Result<()>) -> Result<()> {
        let SseParser { lines, event } = self;
        lines.finish(|line| event.line(line, &mut frame))?;
        event.line(b"", &mut frame)
    }
}

/// The event being read.
#[derive(Default)]
struct PartialEvent {
    name: Vec<u8>,
    data: Vec<u8>,
}

impl PartialEvent {
    fn line(&mut self, line: &[u8], frame: &mut impl FnMut(SseFrame<'_>) -> Result<()>) -> Result<()> {
        let line = if line.starts_with(b" ") { line.trim_ascii_start() } else { line };
        if let Some(data) = line.strip_prefix(b"data:") {
            let data = data.strip_prefix(b" ").unwrap_or(data);
            if self.is_whole_before(data) {
                // Some servers omit the empty line between two events.
                self.hand_on(frame)?;
            }
            bounded(self.data.len() + data.len())?;
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data);
            return Ok(());
        }
        if line.is_empty() {
            return self.hand_on(frame);
        }
        if let Some(name) = line.strip_prefix(b"event:") {
            if self.is_whole_before(b"{") {
                self.hand_on(frame)?;
            }
            self.name.clear();
            self.name.extend_from_slice(name.strip_prefix(b" ").unwrap_or(name));
            return Ok(());
        }
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
        match name {
            b"" | b"data" | b"event" | b"id" | b"retry" => Ok(()),
            _ => frame(SseFrame::Stray(line)),
        }
    }

    /// Passes the event on, if it has data, and starts another.
    fn hand_on(&mut self, frame: &mut impl FnMut(SseFrame<'_>) -> Result<()>) -> Result<()> {
        let PartialEvent { name, data } = self;
        let is_event = !data.is_empty();
        let passed = if is_event { frame(SseFrame::Event(SseEvent { name, data })) } else { Ok(()) };
        name.clear();
        data.clear();
        passed
    }

    /// Whether the data so far is an object that cannot continue with this line: in JSON, `}` never precedes `{` or a
    /// word.
    fn is_whole_before(&self, line: &[u8]) -> bool {
        let is_next = line.starts_with(b"{") || line.starts_with(b"[DONE]");
        is_next && self.data.starts_with(b"{") && self.data.trim_ascii_end().ends_with(b"}")
    }
}

/// Rejects a line or event of more than [`LIMIT`] bytes.
fn bounded(length: usize) -> Result<()> {
    if length <= LIMIT {
        return Ok(());
    }
    Err(Error::remote("a line of the answer is longer than 16 MiB")
        .hint("check that `provider` and `base_url` belong together"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the events of `pieces`, each after its name; stray lines after a `?`.
    fn events(pieces: &[&[u8]]) -> String {
        let mut sse = SseParser::default();
        let mut seen = String::new();
        let mut note = |frame: SseFrame<'_>| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            seen += &match frame {
                SseFrame::Event(SseEvent { name: b"", data }) => format!("{}|", text(data)),
                SseFrame::Event(SseEvent { name, data }) => format!("{}={}|", text(name), text(data)),
                SseFrame::Stray(line) => format!("?{}|", text(line)),
            };
            Ok(())
        };
        for piece in pieces {
            sse.feed(piece, &mut note).unwrap();
        }
        sse.finish(&mut note).unwrap();
        seen
    }

    #[test]
    fn events_are_the_same_wherever_reads_end() {
        for (stream, expected) in [
            ("data: a\n\ndata: b\n\n", "a|b|"),
            ("data: a\r\n\r\ndata:b\r\n\r\n", "a|b|"),
            ("\u{feff}data: 안녕\n\n", "안녕|"),
            (": keep-alive\n\nevent: x\nid: 3\nretry: 9\ndata: a\n\n", "x=a|"),
            ("event: lost\n\nevent:x\nevent: y\ndata: a\n\ndata: b\n\n", "y=a|b|"),
            ("data: {\ndata:  1}\n\n", "{\n 1}|"),
            ("data: a", "a|"),
            ("data: a\n", "a|"),
            ("\n\n\ndata:\n\ndata: 🙂🙂\n\n", "🙂🙂|"),
            ("<html>\n", "?<html>|"),
            ("data\n\n", ""),
            ("data: a\r\rdata: b\r\revent: x\rdata: c\r\r", "a|b|x=c|"),
            ("data: a\r\n\rdata: b\n\r", "a|b|"),
            ("data: {}\ndata: {\"a\":\ndata: 1}\ndata: [DONE]\n", "{}|{\"a\":\n1}|[DONE]|"),
            ("event: x\ndata: {}\nevent: y\ndata: {}\n\n", "x={}|y={}|"),
            ("  data: a\n\n", "a|"),
            ("error: {\"a\":1}\n\n", "?error: {\"a\":1}|"),
        ] {
            let bytes = stream.as_bytes();
            for at in 0..=bytes.len() {
                let (a, b) = bytes.split_at(at);
                assert_eq!(events(&[a, b]), expected, "{stream:?} split at {at}");
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(events(&single), expected, "{stream:?} byte by byte");
        }
    }

    #[test]
    fn an_endless_event_is_an_error() {
        let piece = vec![b'x'; 1 << 20];
        let mut sse = SseParser::default();
        let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
        let failed = (0..17).find_map(|_| sse.feed(&line, |_| Ok(())).err());
        assert!(failed.is_some_and(|e| e.message.contains("16 MiB")));
    }

    #[test]
    fn an_endless_line_is_an_error() {
        let mut lines = LineSplitter::default();
        let piece = vec![b'x'; 1 << 20];
        let failed = (0..17).find_map(|_| lines.feed(&piece, |_| Ok(())).err());
        assert!(failed.is_some_and(|e| e.message.contains("16 MiB")));
    }
}
