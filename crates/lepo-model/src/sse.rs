//! Server-sent events (WHATWG HTML, section 9.2), read from bytes in pieces of any size.

use super::ndjson::{Lines, bounded};
use lepo_base::error::Result;

/// One item of a stream of server-sent events.
pub(super) enum Frame<'a> {
    /// The data of one event, its lines joined by LF.
    Data(&'a [u8]),
    /// A line that is no field of an event: another protocol's, to be shown if nothing else comes.
    Stray(&'a [u8]),
}

/// Server-sent events (WHATWG HTML, section 9.2): comments, `event`, `id` and `retry` are skipped.
#[derive(Default)]
pub(super) struct Sse {
    lines: Lines,
    event: Pending,
}

impl Sse {
    /// Calls `frame` on every event that `bytes` completes.
    pub fn feed(&mut self, bytes: &[u8], mut frame: impl FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        let Sse { lines, event } = self;
        lines.feed(bytes, |line| event.line(line, &mut frame))
    }

    /// Calls `frame` on a last event that had no empty line after it: many servers leave it out.
    pub fn end(&mut self, mut frame: impl FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        let Sse { lines, event } = self;
        lines.end(|line| event.line(line, &mut frame))?;
        event.line(b"", &mut frame)
    }
}

/// The data lines of the event that is being read.
#[derive(Default)]
struct Pending {
    data: Vec<u8>,
}

impl Pending {
    fn line(&mut self, line: &[u8], frame: &mut impl FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        if let Some(data) = line.strip_prefix(b"data:") {
            let data = data.strip_prefix(b" ").unwrap_or(data);
            bounded(self.data.len() + data.len())?;
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data);
            return Ok(());
        }
        if line.is_empty() {
            if self.data.is_empty() {
                return Ok(());
            }
            let passed = frame(Frame::Data(&self.data));
            self.data.clear();
            return passed;
        }
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
        match name {
            b"" | b"data" | b"event" | b"id" | b"retry" => Ok(()),
            _ => frame(Frame::Stray(line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of `pieces`, one a line; stray lines after a `?`.
    fn events(pieces: &[&[u8]]) -> String {
        let mut sse = Sse::default();
        let mut seen = String::new();
        let mut note = |frame: Frame<'_>| {
            let (mark, bytes) = match frame {
                Frame::Data(data) => ("", data),
                Frame::Stray(line) => ("?", line),
            };
            seen += &format!("{mark}{}|", String::from_utf8(bytes.to_vec()).unwrap());
            Ok(())
        };
        for piece in pieces {
            sse.feed(piece, &mut note).unwrap();
        }
        sse.end(&mut note).unwrap();
        seen
    }

    #[test]
    fn events_are_the_same_wherever_reads_end() {
        for (stream, expected) in [
            ("data: a\n\ndata: b\n\n", "a|b|"),
            ("data: a\r\n\r\ndata:b\r\n\r\n", "a|b|"),
            ("\u{feff}data: 안녕\n\n", "안녕|"),
            (": keep-alive\n\nevent: x\nid: 3\nretry: 9\ndata: a\n\n", "a|"),
            ("data: {\ndata:  1}\n\n", "{\n 1}|"),
            ("data: a", "a|"),
            ("data: a\n", "a|"),
            ("\n\n\ndata:\n\ndata: 🙂🙂\n\n", "🙂🙂|"),
            ("<html>\n", "?<html>|"),
            ("data\n\n", ""),
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
        let mut sse = Sse::default();
        let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
        let failed = (0..17).find_map(|_| sse.feed(&line, |_| Ok(())).err());
        assert!(failed.is_some_and(|e| e.message.contains("16 MiB")));
    }
}
