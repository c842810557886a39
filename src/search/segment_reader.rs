//! Reads a segment of the text cache a block at a time, so that what is searched is still in the processor's
//! cache, and so that the memory needed is that of a block.

use std::cell::OnceCell;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use crc32fast::Hasher;
use memchr::memrchr;

use super::segment::{CHECKSUM, Day, HEADER, LARGEST, Sizes, Table, read_days};
use crate::bubb::Name;

/// Bytes of texts that are read at once, where no single one has more.
const BLOCK: usize = 256 << 10;

/// A source of a segment's bytes.
pub trait Source {
    /// Reads as many bytes as the buffer has, from a place.
    fn read_at(&self, buffer: &mut [u8], at: usize) -> io::Result<()>;
}

impl Source for File {
    fn read_at(&self, buffer: &mut [u8], at: usize) -> io::Result<()> {
        self.read_exact_at(buffer, at as u64)
    }
}

impl Source for &[u8] {
    fn read_at(&self, buffer: &mut [u8], at: usize) -> io::Result<()> {
        let bytes = self.get(at..).and_then(|bytes| bytes.get(..buffer.len()));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// The parts that the blocks of a segment have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Whole lines.
    Lines,
    /// Whole bubbs.
    Bubbs,
}

/// A block of a segment's texts, all of one day.
pub struct Block<'b> {
    /// The day.
    pub day: &'b Day,
    /// The place of the texts in all texts.
    pub begin: usize,
    /// The texts, each followed by a newline; none for a day without bubbs.
    pub texts: &'b [u8],
    /// No more blocks of this day follow.
    pub is_last: bool,
    table: &'b LazyTable<'b>,
}

impl<'b> Block<'b> {
    /// The bubbs of the day; `None` if the segment is wrong, and then nothing more of it is given.
    pub fn table(&self) -> Option<&'b Table> {
        self.table.get()
    }

    /// Its bubbs with their texts, if it has whole bubbs.
    pub fn bubbs(&self) -> impl Iterator<Item = (Name, &'b [u8])> {
        let (begin, texts) = (self.begin, self.texts);
        self.table().into_iter().flat_map(move |table| {
            let number_at = |byte| table.number_at(0..table.count(), byte);
            let numbers = match texts.len().checked_sub(1) {
                Some(last) => number_at(begin)..number_at(begin + last) + 1,
                None => 0..0,
            };
            numbers.filter_map(move |number| {
                let span = table.span(number..number + 1);
                let text = texts.get(span.start.checked_sub(begin)?..span.end.checked_sub(begin)?)?;
                Some((table.name(number)?, text.split_last()?.1))
            })
        })
    }
}

/// The bubbs of a day, read when they are first asked for.
struct LazyTable<'b> {
    source: &'b dyn Source,
    /// The place of the table of all bubbs.
    entries: usize,
    day: &'b Day,
    /// The beginning of the day's texts, in all texts.
    begin: usize,
    read: OnceCell<Option<Table>>,
}

impl LazyTable<'_> {
    fn get(&self) -> Option<&Table> {
        let read = || {
            let place = self.day.entries();
            let mut entries = Vec::new();
            entries.try_reserve_exact(place.len()).ok()?;
            entries.resize(place.len(), 0);
            self.source.read_at(&mut entries, self.entries.checked_add(place.start)?).ok()?;
            Table::new(entries, self.day, self.begin)
        };
        self.read.get_or_init(read).as_ref()
    }

    /// True if it was asked for and is wrong.
    fn is_wrong(&self) -> bool {
        matches!(self.read.get(), Some(None))
    }
}

/// Reads segments one after another, with the same buffer.
pub struct SegmentReader {
    block: usize,
    buffer: Vec<u8>,
}

impl Default for SegmentReader {
    fn default() -> Self {
        SegmentReader { block: BLOCK, buffer: Vec::new() }
    }
}

impl SegmentReader {
    /// A reader of blocks of another size.
    #[cfg(any(test, fuzzing))]
    pub fn of_blocks(block: usize) -> SegmentReader {
        SegmentReader { block, ..SegmentReader::default() }
    }

    /// Reads a segment of `len` bytes and gives all its texts to `each`, in blocks of these parts, until that
    /// breaks. `Some` if all was read and found right, but for the tables of bubbs that `each` did not ask for;
    /// otherwise what `each` was given may be wrong.
    pub fn read(
        &mut self,
        source: &dyn Source,
        len: u64,
        parts: Parts,
        mut each: impl FnMut(&Block<'_>) -> ControlFlow<()>,
    ) -> Option<()> {
        if len > LARGEST as u64 {
            return None;
        }
        let mut header = [0; HEADER];
        source.read_at(&mut header, 0).ok()?;
        let sizes = Sizes::read(&header, len)?;
        let mut texts = Texts { source, at: HEADER, hasher: Hasher::new() };
        texts.hasher.update(&header);
        let days = read_days(texts.next(&mut self.buffer, 0, sizes.days)?, sizes)?;
        let entries = HEADER + sizes.days + sizes.texts + CHECKSUM;
        let mut begin = 0;
        for day in &days {
            let table = LazyTable { source, entries, day, begin, read: OnceCell::new() };
            self.day(&mut texts, &table, parts, &mut each)?;
            begin = day.end();
        }
        let mut told = [0; CHECKSUM];
        source.read_at(&mut told, texts.at).ok()?;
        (told == texts.hasher.finalize().to_le_bytes()).then_some(())
    }

    /// Gives the texts of a day.
    fn day(
        &mut self,
        texts: &mut Texts<'_>,
        table: &LazyTable<'_>,
        parts: Parts,
        each: &mut impl FnMut(&Block<'_>) -> ControlFlow<()>,
    ) -> Option<()> {
        let (mut at, end) = (table.begin, table.day.end());
        // Bytes at the beginning of the buffer that were read and not given yet: a part that is not whole.
        let mut had = 0;
        loop {
            let wanted = match parts {
                Parts::Bubbs => whole_bubbs(table.get()?, at, self.block) - at,
                Parts::Lines => (end - at).min(self.block.max(2 * had)),
            };
            let read = texts.next(&mut self.buffer, had, wanted)?;
            let is_last = at + wanted == end;
            let given = match parts {
                Parts::Lines if !is_last => memrchr(b'\n', read).map_or(0, |newline| newline + 1),
                _ => wanted,
            };
            if given > 0 || is_last {
                let block = Block { day: table.day, begin: at, texts: read.get(..given)?, is_last, table };
                if each(&block).is_break() || table.is_wrong() {
                    return None;
                }
            }
            if is_last {
                return Some(());
            }
            self.buffer.copy_within(given..wanted, 0);
            (at, had) = (at + given, wanted - given);
        }
    }
}

/// The end of the first bubbs from a place on, as many as a block holds and one at least.
fn whole_bubbs(table: &Table, at: usize, block: usize) -> usize {
    if table.count() == 0 {
        return at;
    }
    let end = at.saturating_add(block);
    let first = table.number_at(0..table.count(), at);
    let last = table.number_at(0..table.count(), end);
    let is_end = table.span(0..table.count()).end <= end;
    table.span(0..if is_end { table.count() } else { last.max(first + 1) }).end
}

/// Reads the part of a segment that its checksum covers.
struct Texts<'s> {
    source: &'s dyn Source,
    at: usize,
    hasher: Hasher,
}

impl Texts<'_> {
    /// Reads so many bytes that the buffer has `len` from its beginning on, of which it had `had`.
    fn next<'b>(&mut self, buffer: &'b mut Vec<u8>, had: usize, len: usize) -> Option<&'b [u8]> {
        // Never made shorter: to make it longer again costs as much as to read it.
        if buffer.len() < len {
            buffer.try_reserve(len - buffer.len()).ok()?;
            buffer.resize(len, 0);
        }
        let part = buffer.get_mut(had..len)?;
        self.source.read_at(part, self.at).ok()?;
        self.hasher.update(part);
        self.at += part.len();
        buffer.get(..len)
    }
}

/// For fuzzing: reads bytes as a segment whose checksums are right, and all that it says; how many bubbs it has.
#[cfg(any(test, fuzzing))]
pub fn read_forged(bytes: &[u8], block: usize) -> Option<usize> {
    let bytes = super::segment::with_checksums(bytes)?;
    let mut reader = SegmentReader::of_blocks(block);
    let mut read = |parts: Parts| {
        let (mut count, mut texts) = (0, Vec::<u8>::new());
        let right = reader.read(&bytes.as_slice(), bytes.len() as u64, parts, |block| {
            assert_eq!(block.begin, texts.len());
            texts.extend(block.texts);
            let Some(table) = block.table() else { return ControlFlow::Break(()) };
            for (number, byte) in (0..table.count()).map(|number| (number, table.span(number..number + 1))) {
                let at = |byte| table.number_at(0..table.count(), byte);
                assert_eq!([at(byte.start), at(byte.end - 1)], [number; 2]);
                let id = table.name(number).map(|name| name.id);
                assert_eq!(id.and_then(|id| table.find(id)).map(|name| name.id), id);
            }
            if block.is_last {
                count += table.count();
            }
            if parts == Parts::Bubbs {
                let bubbs: Vec<_> = block.bubbs().collect();
                assert_eq!(bubbs.iter().map(|(_, text)| text.len() + 1).sum::<usize>(), block.texts.len());
            }
            ControlFlow::Continue(())
        });
        right.map(|()| (count, texts))
    };
    let (lines, bubbs) = (read(Parts::Lines), read(Parts::Bubbs));
    assert_eq!(lines, bubbs);
    lines.map(|(count, _)| count)
}

#[cfg(test)]
mod tests {
    use super::super::segment::{ENTRY_BYTES, SegmentWriter};
    use super::*;
    use crate::bubb::{BubbId, Kind};

    fn name(time: u64, prev: Option<Name>) -> Name {
        let prev = prev.map(|prev| prev.id);
        Name {
            id: BubbId::of(time, Kind::User, false, prev, &[1; 32]),
            kind: Kind::User,
            hidden: false,
            prev,
        }
    }

    fn sample() -> (Vec<u8>, [Name; 3]) {
        let a = name(1000, None);
        let b = name(2000, Some(a));
        let c = name(86_400_000, Some(b));
        let mut writer = SegmentWriter::default();
        writer.day(Day::new(1, 7, 8, 9), [(a, &b"first\nline"[..]), (b, b"")]);
        writer.day(Day::new(2, 17, 18, 19), [(c, "셋".as_bytes())]);
        writer.day(Day::new(3, 20, 21, 22), []);
        let len = writer.len();
        let bytes = writer.finish();
        assert_eq!(bytes.len(), len);
        (bytes, [a, b, c])
    }

    /// The blocks of a segment as day, texts and names; `None` if it is wrong.
    fn blocks(bytes: &[u8], parts: Parts, block: usize) -> Option<Vec<(u8, String, Vec<Name>)>> {
        let mut blocks = Vec::new();
        let right = SegmentReader::of_blocks(block).read(&bytes, bytes.len() as u64, parts, |block| {
            let text = String::from_utf8_lossy(block.texts).into_owned();
            let names = match parts {
                Parts::Lines => vec![],
                Parts::Bubbs => block.bubbs().map(|(name, _)| name).collect(),
            };
            blocks.push((block.day.day, text, names));
            ControlFlow::Continue(())
        });
        right.map(|()| blocks)
    }

    #[test]
    fn a_segment_gives_back_what_was_put_in() {
        let (bytes, [a, b, c]) = sample();
        let text = |text: &str| text.to_string();
        let (third, fourth) = ((2, text("셋\n"), vec![c]), (3, text(""), vec![]));
        assert_eq!(
            blocks(&bytes, Parts::Bubbs, BLOCK).unwrap(),
            [(1, text("first\nline\n\n"), vec![a, b]), third.clone(), fourth.clone()]
        );
        assert_eq!(
            blocks(&bytes, Parts::Bubbs, 1).unwrap(),
            [(1, text("first\nline\n"), vec![a]), (1, text("\n"), vec![b]), third, fourth]
        );
        for (block, expected) in [
            (1, vec!["first\n", "line\n\n", "셋\n", ""]),
            (7, vec!["first\n", "line\n\n", "셋\n", ""]),
            (11, vec!["first\nline\n", "\n", "셋\n", ""]),
            (BLOCK, vec!["first\nline\n\n", "셋\n", ""]),
        ] {
            let texts: Vec<String> =
                blocks(&bytes, Parts::Lines, block).unwrap().into_iter().map(|(_, text, _)| text).collect();
            assert_eq!(texts, expected, "{block}");
        }
    }

    #[test]
    fn the_same_reader_reads_the_next_one() {
        let (bytes, names) = sample();
        let (mut reader, source, len) = (SegmentReader::default(), &bytes.as_slice(), bytes.len() as u64);
        for _ in 0..2 {
            let mut found = Vec::new();
            let right = reader.read(source, len, Parts::Lines, |block| {
                let table = block.table().unwrap();
                found.extend(names.iter().filter_map(|name| table.find(name.id)));
                assert!(block.is_last);
                ControlFlow::Continue(())
            });
            assert_eq!((right, found.as_slice()), (Some(()), names.as_slice()));
        }
        // One that is broken off is not right, nor is one of another length.
        assert!(reader.read(source, len, Parts::Lines, |_| ControlFlow::Break(())).is_none());
        assert!(reader.read(source, len + 1, Parts::Lines, |_| ControlFlow::Continue(())).is_none());
    }

    #[test]
    fn a_torn_or_changed_segment_is_absent() {
        let (bytes, _) = sample();
        for end in 0..bytes.len() {
            assert!(blocks(&bytes[..end], Parts::Bubbs, BLOCK).is_none(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(blocks(&changed, Parts::Bubbs, BLOCK).is_none(), "changed at {at}");
            // A table that is not asked for may be anything.
            let is_read = at < bytes.len() - 3 * ENTRY_BYTES;
            assert_eq!(blocks(&changed, Parts::Lines, BLOCK).is_none(), is_read, "changed at {at}");
        }
    }

    #[test]
    fn a_forged_segment_with_right_checksums_has_right_bounds_or_is_absent() {
        let (bytes, _) = sample();
        let (front, entries) = bytes.split_at(bytes.len() - 3 * ENTRY_BYTES);
        let body = [&front[..front.len() - CHECKSUM], entries].concat();
        assert_eq!(read_forged(&body, 1), Some(3));
        for at in 8..body.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut forged = body.to_vec();
                forged[at] = value;
                // Blocks of any form are read without a panic.
                assert_eq!(read_forged(&forged, 1), read_forged(&forged, BLOCK));
            }
        }
    }
}
