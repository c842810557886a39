//! Reads a segment of the text cache block by block: a block is searched while it is in the processor's cache, and
//! memory is needed for a single block. Blocks that cannot match are not read.

use std::cell::OnceCell;
use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::FileExt;

use super::literals::RequiredTrigrams;
use super::segment::{BlockEntry, HEADER, LARGEST, SegmentDay, SegmentSections, read_tables};
use super::segment_table::DayTable;
use lepo_store::bubb::BubbName;

/// A source of a segment's bytes.
pub trait SegmentSource {
    /// Fills the buffer from offset `at`.
    fn read_at(&self, buffer: &mut [u8], at: usize) -> io::Result<()>;
}

impl SegmentSource for File {
    fn read_at(&self, buffer: &mut [u8], at: usize) -> io::Result<()> {
        self.read_exact_at(buffer, at as u64)
    }
}

impl SegmentSource for &[u8] {
    fn read_at(&self, buffer: &mut [u8], at: usize) -> io::Result<()> {
        let bytes = self.get(at..).and_then(|bytes| bytes.get(..buffer.len()));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// A block of a segment's texts: whole bubbs, all of the same day.
pub struct SegmentBlock<'b> {
    pub day: &'b SegmentDay,
    /// Offset of the texts in the text section.
    pub begin: usize,
    /// The texts, each followed by a newline; empty if they were not read, and for a day without bubbs.
    pub texts: &'b [u8],
    /// The last block of its day.
    pub is_last: bool,
    table: &'b LazyTable<'b>,
}

impl<'b> SegmentBlock<'b> {
    /// Returns the bubbs of the day; `None` if the segment is corrupt, which ends the reading.
    pub fn table(&self) -> Option<&'b DayTable> {
        self.table.get()
    }

    /// Returns its bubbs with their texts; empty if the texts were not read.
    pub fn bubbs(&self) -> impl Iterator<Item = (BubbName, &'b [u8])> {
        let (begin, texts) = (self.begin, self.texts);
        let last = texts.len().checked_sub(1);
        let table = last.and_then(|last| Some((self.table()?, begin + last)));
        table.into_iter().flat_map(move |(table, last)| {
            let index_at = |byte| table.index_at(0..table.count(), byte);
            (index_at(begin)..index_at(last) + 1).filter_map(move |index| {
                let span = table.span(index..index + 1);
                let text = texts.get(span.start.checked_sub(begin)?..span.end.checked_sub(begin)?)?;
                Some((table.name(index)?, text.split_last()?.1))
            })
        })
    }
}

/// The bubbs of a day, read on first use.
struct LazyTable<'b> {
    source: &'b dyn SegmentSource,
    /// Offset of the table of all bubbs.
    entries: usize,
    day: &'b SegmentDay,
    blocks: &'b [BlockEntry],
    /// Start of the day's texts in the text section.
    begin: usize,
    read: OnceCell<Option<DayTable>>,
}

impl LazyTable<'_> {
    fn get(&self) -> Option<&DayTable> {
        let read = || {
            let range = self.day.entries();
            let mut entries = Vec::new();
            entries.try_reserve_exact(range.len()).ok()?;
            entries.resize(range.len(), 0);
            self.source.read_at(&mut entries, self.entries.checked_add(range.start)?).ok()?;
            DayTable::new(entries, self.day, self.blocks, self.begin)
        };
        self.read.get_or_init(read).as_ref()
    }

    /// Whether the table was read and is corrupt.
    fn is_wrong(&self) -> bool {
        matches!(self.read.get(), Some(None))
    }
}

/// Reads segments one after another, reusing the buffer.
#[derive(Default)]
pub struct SegmentReader {
    buffer: Vec<u8>,
}

impl SegmentReader {
    /// Reads the days of a segment of `len` bytes for which `wanted` returns a value, and passes that and the day's
    /// blocks to `each`, until it breaks. The texts of blocks whose filter excludes `needed` are not read. `Some` means
    /// that all bytes read were correct; otherwise the blocks passed to `each` may be wrong.
    pub fn read<D>(
        &mut self,
        source: &dyn SegmentSource,
        len: u64,
        needed: Option<&RequiredTrigrams>,
        mut wanted: impl FnMut(&SegmentDay) -> Option<D>,
        mut each: impl FnMut(&D, &SegmentBlock<'_>) -> ControlFlow<()>,
    ) -> Option<()> {
        if len > LARGEST as u64 {
            return None;
        }
        let mut header = [0; HEADER];
        source.read_at(&mut header, 0).ok()?;
        let sections = SegmentSections::read(&header, len)?;
        let (days, entries) = read_tables(self.bytes(source, sections.tables.clone())?, &sections)?;
        let (mut begin, mut rest) = (0, entries.as_slice());
        for day in &days {
            let (blocks, more) = rest.split_at_checked(day.blocks())?;
            if let Some(wanted) = wanted(day) {
                let entries = sections.entries.start;
                let table = LazyTable { source, entries, day, blocks, begin, read: OnceCell::new() };
                self.day(&sections, needed, &table, |block| each(&wanted, block))?;
            }
            (begin, rest) = (day.end(), more);
        }
        Some(())
    }

    /// Passes the blocks of a day to `each`.
    fn day(
        &mut self,
        sections: &SegmentSections,
        needed: Option<&RequiredTrigrams>,
        table: &LazyTable<'_>,
        mut each: impl FnMut(&SegmentBlock<'_>) -> ControlFlow<()>,
    ) -> Option<()> {
        let (day, source) = (table.day, table.source);
        if table.blocks.is_empty() {
            let block = SegmentBlock { day, begin: table.begin, texts: &[], is_last: true, table };
            return each(&block).is_continue().then_some(());
        }
        for (number, entry) in table.blocks.iter().enumerate() {
            let may_match = needed.is_none_or(|needed| {
                let filter = self.checked(source, &sections.filters, &entry.filter, entry.filter_checksum);
                filter.is_none_or(|filter| needed.may_be_in(filter))
            });
            let texts = match may_match {
                true => self.checked(source, &sections.texts, &entry.texts, entry.texts_checksum)?,
                false => &[],
            };
            let is_last = number + 1 == table.blocks.len();
            let block = SegmentBlock { day, begin: entry.texts.start, texts, is_last, table };
            if each(&block).is_break() || table.is_wrong() {
                return None;
            }
        }
        Some(())
    }

    /// Reads a part of a section; `None` if its checksum is wrong.
    fn checked(
        &mut self,
        source: &dyn SegmentSource,
        section: &Range<usize>,
        part: &Range<usize>,
        checksum: u32,
    ) -> Option<&[u8]> {
        let begin = section.start.checked_add(part.start)?;
        let bytes = self.bytes(source, begin..begin.checked_add(part.len())?)?;
        (crc32fast::hash(bytes) == checksum).then_some(bytes)
    }

    fn bytes(&mut self, source: &dyn SegmentSource, range: Range<usize>) -> Option<&[u8]> {
        // The buffer never shrinks: growing it again costs as much as reading.
        if self.buffer.len() < range.len() {
            self.buffer.try_reserve(range.len() - self.buffer.len()).ok()?;
            self.buffer.resize(range.len(), 0);
        }
        let bytes = self.buffer.get_mut(..range.len())?;
        source.read_at(bytes, range.start).ok()?;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::SegmentWriter;
    use super::*;
    use crate::PatternOptions;
    use lepo_base::role::Role;
    use lepo_store::bubb::BubbId;

    fn name(time: u64, prev: Option<BubbName>) -> BubbName {
        let prev = prev.map(|prev| prev.id);
        BubbName {
            id: BubbId::new(time, Role::User, false, prev, &[1; 32].into()),
            role: Role::User,
            hidden: false,
            prev,
        }
    }

    /// Builds a segment with blocks of `block` bytes.
    fn sample(block: usize) -> (Vec<u8>, [BubbName; 3]) {
        let a = name(1000, None);
        let b = name(2000, Some(a));
        let c = name(86_400_000, Some(b));
        let mut writer = SegmentWriter::of_blocks(block);
        writer.day(SegmentDay::new(1, 7, 8, 9), [(a, &b"first\nline"[..]), (b, b"")]);
        writer.day(SegmentDay::new(2, 17, 18, 19), [(c, "셋".as_bytes())]);
        writer.day(SegmentDay::new(3, 20, 21, 22), []);
        let len = writer.len();
        let bytes = writer.finish();
        assert_eq!(bytes.len(), len);
        (bytes, [a, b, c])
    }

    /// Returns the blocks of a segment as day, texts and optionally names; `None` if it is corrupt.
    fn blocks(bytes: &[u8], pattern: &str, has_names: bool) -> Option<Vec<(u8, String, Vec<BubbName>)>> {
        let mut blocks = Vec::new();
        let needed = RequiredTrigrams::from_pattern(pattern, &PatternOptions::default());
        let right = SegmentReader::default().read(
            &bytes,
            bytes.len() as u64,
            needed.as_ref(),
            |day| Some(day.day),
            |day, block| {
                let text = String::from_utf8_lossy(block.texts).into_owned();
                let names = has_names.then(|| block.bubbs().map(|(name, _)| name).collect());
                blocks.push((*day, text, names.unwrap_or_default()));
                ControlFlow::Continue(())
            },
        );
        right.map(|()| blocks)
    }

    #[test]
    fn a_segment_gives_back_what_was_put_in() {
        let text = |text: &str| text.to_string();
        for (block, first) in [
            (usize::MAX, vec![(text("first\nline\n\n"), 0..2)]),
            (12, vec![(text("first\nline\n\n"), 0..2)]),
            (11, vec![(text("first\nline\n"), 0..1), (text("\n"), 1..2)]),
            (1, vec![(text("first\nline\n"), 0..1), (text("\n"), 1..2)]),
        ] {
            let (bytes, names) = sample(block);
            let mut expected: Vec<_> =
                first.into_iter().map(|(text, range)| (1, text, names[range].to_vec())).collect();
            expected.extend([(2, text("셋\n"), vec![names[2]]), (3, text(""), vec![])]);
            assert_eq!(blocks(&bytes, "", true).unwrap(), expected, "{block}");
        }
    }

    #[test]
    fn a_block_without_what_is_needed_is_not_read() {
        for (block, pattern, expected) in [
            (12, "line", ["first\nline\n\n", "", ""].as_slice()),
            (1, "line", &["first\nline\n", "", "", ""]),
            (1, "셋", &["", "", "셋\n", ""]),
            (1, "셋|st\\b.*", &["first\nline\n", "\n", "셋\n", ""]),
            (1, "셋|rst\\b.*", &["first\nline\n", "", "셋\n", ""]),
            (1, "absent", &["", "", "", ""]),
        ] {
            let (bytes, _) = sample(block);
            let texts = |bytes: &[u8]| -> Option<Vec<String>> {
                Some(blocks(bytes, pattern, false)?.into_iter().map(|(_, text, _)| text).collect())
            };
            assert_eq!(texts(&bytes).unwrap(), expected, "{pattern}");
            // A corrupt filter is ignored, and bytes that are not read do not matter.
            let sections = SegmentSections::read(bytes.first_chunk().unwrap(), bytes.len() as u64).unwrap();
            let mut changed = bytes.clone();
            changed[sections.filters].fill(0x55);
            assert_eq!(texts(&changed).unwrap().concat(), "first\nline\n\n셋\n");
            changed.copy_from_slice(&bytes);
            changed[sections.texts].fill(b'.');
            let is_read = expected.iter().any(|text| !text.is_empty());
            assert_eq!(texts(&changed).is_none(), is_read, "{pattern}");
        }
    }

    #[test]
    fn the_same_reader_reads_the_next_one_and_only_the_days_that_are_wanted() {
        let (bytes, names) = sample(1);
        let (mut reader, source, len) = (SegmentReader::default(), &bytes.as_slice(), bytes.len() as u64);
        for wanted in [vec![1], vec![1, 2, 3], vec![2], vec![]] {
            let (mut found, mut days) = (Vec::new(), Vec::new());
            let right = reader.read(
                source,
                len,
                None,
                |day| wanted.contains(&day.day).then_some(day.day),
                |day, block| {
                    found.extend(block.bubbs().map(|(name, _)| name));
                    days.extend(block.is_last.then_some(*day));
                    ControlFlow::Continue(())
                },
            );
            let expected =
                names.iter().filter(|name| wanted.contains(&(1 + (name.id.time() / 86_400_000) as u8)));
            assert_eq!((right, found), (Some(()), expected.copied().collect()));
            assert_eq!(days, wanted);
        }
        // An interrupted reading is not reliable, nor is a segment of another length.
        let every = |day: &SegmentDay| Some(day.day);
        assert!(reader.read(source, len, None, every, |_, _| ControlFlow::Break(())).is_none());
        assert!(reader.read(source, len + 1, None, every, |_, _| ControlFlow::Continue(())).is_none());
    }

    #[test]
    fn a_torn_or_changed_segment_is_absent() {
        let (bytes, _) = sample(1);
        for end in 0..bytes.len() {
            assert!(blocks(&bytes[..end], "", true).is_none(), "cut at {end}");
        }
        let sections = SegmentSections::read(bytes.first_chunk().unwrap(), bytes.len() as u64).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            // A table or a filter that is not read does not matter.
            let is_filter = sections.filters.contains(&at);
            assert_eq!(blocks(&changed, "", true).is_none(), !is_filter, "changed at {at}");
            let is_read = !is_filter && !sections.entries.contains(&at);
            assert_eq!(blocks(&changed, "", false).is_none(), is_read, "changed at {at}");
        }
    }
}
