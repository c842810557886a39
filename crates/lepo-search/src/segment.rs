//! A segment of the text cache: the bubbs of a month's day folders, texts one after another, with tables.
//!
//! The format, with little-endian numbers:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `lepotxt3` |
//! | 4 | number of days *d* |
//! | 4 | number of bubbs *n* |
//! | 4 | number of blocks *b* |
//! | 4 | padding |
//! | 8 | bytes of text *t* |
//! | 8 | bytes of filters *f* |
//! | 56 · d | a day: day of the month (1), padding (7), inode, ctime and mtime in nanoseconds (8 each), its first bubb and their number (4 each), the end of its texts (8), CRC-32 (ISO-HDLC) of its bubbs in the table (4), number of its blocks (4) |
//! | 24 · b | a block: the end of its texts (8), CRC-32 of these and of its filter (4 each), bytes of its filter (4), padding (4) |
//! | 4 | CRC-32 of all before it |
//! | f | the filters |
//! | t | the texts, each followed by a newline |
//! | 56 · n | a bubb: id and prev (16 each, prev zeros for a root), kind letter, hidden `0` or `1`, padding (6), offset of its text (8), length (8) |
//!
//! Bubbs are sorted by id, so the bubbs of a day are adjacent. The texts of a day are cut into blocks of whole bubbs,
//! each with a [filter](super::trigrams) and checksums, so that a block that cannot match is not read. A segment whose
//! tables, texts or bounds are corrupt is treated as missing, a corrupt filter as a missing filter. The table of the
//! bubbs comes last, because most days of a search have no match, and their part of it is never read.

use std::ops::Range;

use super::trigrams;
use lepo_store::bubb::{BubbId, BubbName};

/// Bytes of a bubb in the table.
pub(super) const ENTRY_BYTES: usize = 56;

/// Maximum bytes of a segment. For a larger month no segment is written, and none is read.
pub const LARGEST: usize = 512 << 20;

/// Maximum bytes of a block's texts, if it has more than one, so that a block fits in the processor's cache.
const BLOCK: usize = 256 << 10;

const MAGIC: &[u8; 8] = b"lepotxt3";
pub(super) const HEADER: usize = 40;
const DAY_BYTES: usize = 56;
const BLOCK_BYTES: usize = 24;
const CHECKSUM: usize = 4;

/// A day folder in its state before its files were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentDay {
    /// Day of the month, from 1.
    pub day: u8,
    /// The folder's inode.
    pub inode: u64,
    /// The folder's status change time, in nanoseconds since 1970.
    pub ctime: u64,
    /// The folder's modification time, in nanoseconds since 1970.
    pub mtime: u64,
    /// Index of its first bubb in the segment's table.
    first: u32,
    count: u32,
    /// End of its texts in the text section.
    end: u64,
    /// CRC-32 of its part of that table.
    pub(super) checksum: u32,
    blocks: u32,
}

impl SegmentDay {
    /// Creates a day without bubbs, with a folder's identity and times.
    pub fn new(day: u8, inode: u64, ctime: u64, mtime: u64) -> SegmentDay {
        SegmentDay { day, inode, ctime, mtime, first: 0, count: 0, end: 0, checksum: 0, blocks: 0 }
    }

    /// Whether both describe the same folder in the same state.
    pub fn is_unchanged(&self, now: &SegmentDay) -> bool {
        (self.day, self.inode, self.ctime, self.mtime) == (now.day, now.inode, now.ctime, now.mtime)
    }

    /// Returns the range of its bubbs in the table, in bytes.
    pub(super) fn entries(&self) -> Range<usize> {
        let begin = self.first as usize * ENTRY_BYTES;
        begin..begin + self.count as usize * ENTRY_BYTES
    }

    pub(super) fn end(&self) -> usize {
        self.end as usize
    }

    pub(super) fn blocks(&self) -> usize {
        self.blocks as usize
    }
}

/// A block's entry in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlockEntry {
    /// Range in the text section.
    pub texts: Range<usize>,
    /// CRC-32 of the texts.
    pub texts_checksum: u32,
    /// Range in the filter section.
    pub filter: Range<usize>,
    /// CRC-32 of the filter.
    pub filter_checksum: u32,
}

/// Builds the bytes of a segment, day after day.
pub struct SegmentWriter {
    /// Maximum bytes of a block's texts.
    block: usize,
    days: Vec<SegmentDay>,
    blocks: Vec<u8>,
    filters: Vec<u8>,
    texts: Vec<u8>,
    entries: Vec<u8>,
}

impl Default for SegmentWriter {
    fn default() -> Self {
        SegmentWriter {
            block: BLOCK,
            days: Vec::new(),
            blocks: Vec::new(),
            filters: Vec::new(),
            texts: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl SegmentWriter {
    /// Creates a writer with another block size.
    #[cfg(test)]
    pub fn of_blocks(block: usize) -> SegmentWriter {
        SegmentWriter { block, ..SegmentWriter::default() }
    }

    /// Adds a day with its bubbs, which must be sorted by id and later than the bubbs of earlier days.
    pub fn day<'t>(&mut self, mut day: SegmentDay, bubbs: impl IntoIterator<Item = (BubbName, &'t [u8])>) {
        (day.first, day.count, day.blocks) = ((self.entries.len() / ENTRY_BYTES) as u32, 0, 0);
        let mut begin = self.texts.len();
        for (name, text) in bubbs {
            if self.texts.len() > begin && self.texts.len() + text.len() >= begin.saturating_add(self.block) {
                begin = self.end_block(&mut day, begin);
            }
            self.entries.extend(name.id.bytes());
            self.entries.extend(name.prev.map_or([0; 16], BubbId::bytes));
            self.entries.extend([name.role.letter() as u8, b'0' + u8::from(name.hidden), 0, 0, 0, 0, 0, 0]);
            self.entries.extend((self.texts.len() as u64).to_le_bytes());
            self.entries.extend((text.len() as u64).to_le_bytes());
            self.texts.extend(text);
            self.texts.push(b'\n');
            day.count += 1;
        }
        if self.texts.len() > begin {
            self.end_block(&mut day, begin);
        }
        day.end = self.texts.len() as u64;
        day.checksum = crc32fast::hash(self.entries.get(day.entries()).unwrap_or_default());
        self.days.push(day);
    }

    /// Ends a block with the texts from `begin` on, and returns the start of the next.
    fn end_block(&mut self, day: &mut SegmentDay, begin: usize) -> usize {
        let texts = self.texts.get(begin..).unwrap_or_default();
        let filter = trigrams::filter_of(texts);
        self.blocks.extend((self.texts.len() as u64).to_le_bytes());
        self.blocks.extend(crc32fast::hash(texts).to_le_bytes());
        self.blocks.extend(crc32fast::hash(&filter).to_le_bytes());
        self.blocks.extend((filter.len() as u32).to_le_bytes());
        self.blocks.extend([0; 4]);
        self.filters.extend(filter);
        day.blocks += 1;
        self.texts.len()
    }

    /// Returns the length so far, in bytes.
    pub fn len(&self) -> usize {
        let tables = HEADER + self.days.len() * DAY_BYTES + self.blocks.len() + CHECKSUM;
        tables + self.filters.len() + self.texts.len() + self.entries.len()
    }

    /// Returns the bytes that a bubb with a text of `len` bytes adds, except in the filter.
    pub fn len_of(len: usize) -> usize {
        ENTRY_BYTES + len + 1
    }

    /// Returns the bytes of the segment.
    pub fn finish(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        bytes.extend(MAGIC);
        bytes.extend((self.days.len() as u32).to_le_bytes());
        bytes.extend(((self.entries.len() / ENTRY_BYTES) as u32).to_le_bytes());
        bytes.extend(((self.blocks.len() / BLOCK_BYTES) as u32).to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend((self.texts.len() as u64).to_le_bytes());
        bytes.extend((self.filters.len() as u64).to_le_bytes());
        for day in &self.days {
            bytes.extend([day.day, 0, 0, 0, 0, 0, 0, 0]);
            for number in [day.inode, day.ctime, day.mtime] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(day.first.to_le_bytes());
            bytes.extend(day.count.to_le_bytes());
            bytes.extend(day.end.to_le_bytes());
            bytes.extend(day.checksum.to_le_bytes());
            bytes.extend(day.blocks.to_le_bytes());
        }
        bytes.extend(self.blocks);
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        for part in [self.filters, self.texts, self.entries] {
            bytes.extend(part);
        }
        bytes
    }
}

/// The sections of a segment, as ranges of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SegmentSections {
    /// The header, the tables of days and blocks, and their checksum.
    pub tables: Range<usize>,
    pub filters: Range<usize>,
    pub texts: Range<usize>,
    /// The table of the bubbs.
    pub entries: Range<usize>,
    days: usize,
}

impl SegmentSections {
    /// Computes the sections from the header; `None` if their lengths do not add up to `len`.
    pub fn read(header: &[u8; HEADER], len: u64) -> Option<SegmentSections> {
        let days = (u32_at(header, 8)? as usize).checked_mul(DAY_BYTES)?;
        let entries = (u32_at(header, 12)? as usize).checked_mul(ENTRY_BYTES)?;
        let blocks = (u32_at(header, 16)? as usize).checked_mul(BLOCK_BYTES)?;
        let texts = usize::try_from(u64_at(header, 24)?).ok()?;
        let filters = usize::try_from(u64_at(header, 32)?).ok()?;
        let tables = (HEADER + CHECKSUM).checked_add(days)?.checked_add(blocks)?;
        let filters = tables..tables.checked_add(filters)?;
        let texts = filters.end..filters.end.checked_add(texts)?;
        let entries = texts.end..texts.end.checked_add(entries)?;
        let is_whole = header.starts_with(MAGIC) && entries.end as u64 == len;
        is_whole.then_some(SegmentSections { tables: 0..tables, filters, texts, entries, days })
    }
}

/// Reads and checks the tables of days and blocks: bubbs, texts and filters must be contiguous up to their ends, and
/// days must end where blocks end.
pub(super) fn read_tables(
    bytes: &[u8],
    sections: &SegmentSections,
) -> Option<(Vec<SegmentDay>, Vec<BlockEntry>)> {
    let (tables, checksum) = bytes.split_last_chunk::<CHECKSUM>()?;
    if crc32fast::hash(tables).to_le_bytes() != *checksum {
        return None;
    }
    let (days, blocks) = tables.get(HEADER..)?.split_at_checked(sections.days)?;
    let (mut block_entries, mut text, mut filter) = (Vec::<BlockEntry>::new(), 0, 0);
    for bytes in blocks.as_chunks::<BLOCK_BYTES>().0 {
        let texts = text..usize::try_from(u64_at(bytes, 0)?).ok()?;
        let size = u32_at(bytes, 16)? as usize;
        if texts.is_empty() || !trigrams::is_size(size) {
            return None;
        }
        let entry = BlockEntry {
            texts,
            texts_checksum: u32_at(bytes, 8)?,
            filter: filter..filter.checked_add(size)?,
            filter_checksum: u32_at(bytes, 12)?,
        };
        (text, filter) = (entry.texts.end, entry.filter.end);
        block_entries.push(entry);
    }
    let (mut read, mut next, mut end, mut block) = (Vec::new(), 0, 0, 0);
    for bytes in days.as_chunks::<DAY_BYTES>().0 {
        let day = SegmentDay {
            day: bytes[0],
            inode: u64_at(bytes, 8)?,
            ctime: u64_at(bytes, 16)?,
            mtime: u64_at(bytes, 24)?,
            first: u32_at(bytes, 32)?,
            count: u32_at(bytes, 36)?,
            end: u64_at(bytes, 40)?,
            checksum: u32_at(bytes, 48)?,
            blocks: u32_at(bytes, 52)?,
        };
        let last = block + day.blocks();
        end = block_entries.get(block..last)?.last().map_or(end, |entry| entry.texts.end);
        if day.first != next || day.end != end as u64 {
            return None;
        }
        (next, block) = (day.first.checked_add(day.count)?, last);
        read.push(day);
    }
    let entries = (next as usize).checked_mul(ENTRY_BYTES)?;
    let is_all = block == block_entries.len()
        && [entries, text, filter] == [sections.entries.len(), sections.texts.len(), sections.filters.len()];
    (is_all && end == text).then_some((read, block_entries))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// Corrects the checksums of a segment, for fuzzing.
#[cfg(any(test, fuzzing))]
pub(super) fn with_checksums(bytes: &[u8]) -> Option<Vec<u8>> {
    let sections = SegmentSections::read(bytes.first_chunk()?, bytes.len() as u64)?;
    let mut whole = bytes.to_vec();
    let (tables, rest) = whole.split_at_mut_checked(sections.tables.end)?;
    let sum = |section: &Range<usize>, part: Range<usize>| {
        let begin = section.start - sections.tables.end;
        let part = begin.checked_add(part.start)?..begin.checked_add(part.end)?;
        Some(crc32fast::hash(rest.get(part)?).to_le_bytes())
    };
    let (front, checksum) = tables.split_last_chunk_mut::<CHECKSUM>()?;
    let (days, blocks) = front.get_mut(HEADER..)?.split_at_mut_checked(sections.days)?;
    for day in days.as_chunks_mut::<DAY_BYTES>().0 {
        let begin = u32_at(day, 32)? as usize * ENTRY_BYTES;
        let part = begin..begin + u32_at(day, 36)? as usize * ENTRY_BYTES;
        day[48..52].copy_from_slice(&sum(&sections.entries, part).unwrap_or_default());
    }
    let (mut text, mut filter) = (0, 0usize);
    for block in blocks.as_chunks_mut::<BLOCK_BYTES>().0 {
        let ends = (u64_at(block, 0)? as usize, filter.checked_add(u32_at(block, 16)? as usize)?);
        block[8..12].copy_from_slice(&sum(&sections.texts, text..ends.0).unwrap_or_default());
        block[12..16].copy_from_slice(&sum(&sections.filters, filter..ends.1).unwrap_or_default());
        (text, filter) = ends;
    }
    *checksum = crc32fast::hash(front).to_le_bytes();
    Some(whole)
}
