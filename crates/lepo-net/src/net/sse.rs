//! Server-sent events (WHATWG HTML, section 9.2), read from bytes in pieces of any size.

use super::lines::{Lines, bounded};
use lepo_base::error::Result;

/// One item of a stream of server-sent events.
pub enum Frame<'a> {
    /// One event.
    Event(SseEvent<'a>),
    /// A line that is no field of an event: another protocol's, to be shown if nothing else comes.
    Stray(&'a [u8]),
}

/// An event of a stream.
pub struct SseEvent<'a> {
    /// The name of its `event` line, empty without one.
    pub name: &'a [u8],
    /// Its data lines, joined by LF.
    pub data: &'a [u8],
}

/// Server-sent events (WHATWG HTML, section 9.2): comments, `id` and `retry` are skipped.
#[derive(Default)]
pub struct Sse {
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

/// The event that is being read.
#[derive(Default)]
struct Pending {
    name: Vec<u8>,
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
            let Pending { name, data } = self;
            let is_event = !data.is_empty();
            let passed = if is_event { frame(Frame::Event(SseEvent { name, data })) } else { Ok(()) };
            name.clear();
            data.clear();
            return passed;
        }
        if let Some(name) = line.strip_prefix(b"event:") {
            self.name.clear();
            self.name.extend_from_slice(name.strip_prefix(b" ").unwrap_or(name));
            return Ok(());
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

    /// The events of `pieces`, each behind its name; stray lines after a `?`.
    fn events(pieces: &[&[u8]]) -> String {
        let mut sse = Sse::default();
        let mut seen = String::new();
        let mut note = |frame: Frame<'_>| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            seen += &match frame {
                Frame::Event(SseEvent { name: b"", data }) => format!("{}|", text(data)),
                Frame::Event(SseEvent { name, data }) => format!("{}={}|", text(name), text(data)),
                Frame::Stray(line) => format!("?{}|", text(line)),
            };
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
            (": keep-alive\n\nevent: x\nid: 3\nretry: 9\ndata: a\n\n", "x=a|"),
            ("event: lost\n\nevent:x\nevent: y\ndata: a\n\ndata: b\n\n", "y=a|b|"),
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
