//! A segment of the text cache: the bubbs of one month's day folders, texts one after another, with tables.
//!
//! The form, all numbers little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `lepotxt1` |
//! | 4 | number of days *d* |
//! | 4 | number of bubbs *n* |
//! | 8 | bytes of text *t* |
//! | 48 · d | a day: day of the month (1), padding (7), inode, ctime and mtime in nanoseconds (8 each), its first bubb and their number (4 each), padding (8) |
//! | 56 · n | a bubb: id and prev (16 each, prev zeros for a root), kind letter, hidden `0` or `1`, padding (6), offset of its text (8), length (8) |
//! | t | the texts, each followed by a newline |
//! | 4 | CRC-32 (ISO-HDLC) of all before it |
//!
//! Bubbs are sorted by id, and each day's are neighbours. A segment whose checksum or whose bounds are wrong
//! is read as absent.

use std::ops::Range;

use crate::bubb::{BubbId, Kind, Name};

/// Bytes of a segment at most. Of a month with more no segment is made, and none is read.
pub const LARGEST: usize = 512 << 20;

const MAGIC: &[u8; 8] = b"lepotxt1";
pub(super) const HEADER: usize = 24;
const DAY_BYTES: usize = 48;
const ENTRY_BYTES: usize = 56;
pub(super) const CHECKSUM: usize = 4;

/// One day folder as it was when its files were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// The day of the month, from 1.
    pub day: u8,
    /// The folder's inode.
    pub inode: u64,
    /// The folder's status change time, nanoseconds since 1970.
    pub ctime: u64,
    /// The folder's modification time, nanoseconds since 1970.
    pub mtime: u64,
    /// The number of its first bubb in the segment's table.
    first: u32,
    /// The number of its bubbs.
    count: u32,
}

impl Day {
    /// A day folder of this identity and these times, without bubbs yet.
    pub fn new(day: u8, inode: u64, ctime: u64, mtime: u64) -> Day {
        Day { day, inode, ctime, mtime, first: 0, count: 0 }
    }

    /// True if both describe the same folder in the same state.
    pub fn is_unchanged(&self, now: &Day) -> bool {
        (self.day, self.inode, self.ctime, self.mtime) == (now.day, now.inode, now.ctime, now.mtime)
    }

    /// The numbers of its bubbs.
    pub fn numbers(&self) -> Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }
}

/// Builds the bytes of a segment, day after day.
#[derive(Default)]
pub struct SegmentWriter {
    days: Vec<Day>,
    entries: Vec<u8>,
    texts: Vec<u8>,
}

impl SegmentWriter {
    /// Adds a day with its bubbs, which must be sorted by id and later than those of the days before.
    pub fn day<'t>(&mut self, mut day: Day, bubbs: impl IntoIterator<Item = (Name, &'t [u8])>) {
        (day.first, day.count) = ((self.entries.len() / ENTRY_BYTES) as u32, 0);
        for (name, text) in bubbs {
            self.entries.extend(name.id.bytes());
            self.entries.extend(name.prev.map_or([0; 16], BubbId::bytes));
            self.entries.extend([name.kind.letter() as u8, b'0' + u8::from(name.hidden), 0, 0, 0, 0, 0, 0]);
            self.entries.extend((self.texts.len() as u64).to_le_bytes());
            self.entries.extend((text.len() as u64).to_le_bytes());
            self.texts.extend(text);
            self.texts.push(b'\n');
            day.count += 1;
        }
        self.days.push(day);
    }

    /// Bytes that the segment has so far.
    pub fn len(&self) -> usize {
        HEADER + self.days.len() * DAY_BYTES + self.entries.len() + self.texts.len() + CHECKSUM
    }

    /// Bytes that a bubb adds whose text has `len`.
    pub fn len_of(len: usize) -> usize {
        ENTRY_BYTES + len + 1
    }

    /// The bytes of the segment.
    pub fn finish(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        bytes.extend(MAGIC);
        bytes.extend((self.days.len() as u32).to_le_bytes());
        bytes.extend(((self.entries.len() / ENTRY_BYTES) as u32).to_le_bytes());
        bytes.extend((self.texts.len() as u64).to_le_bytes());
        for day in &self.days {
            bytes.extend([day.day, 0, 0, 0, 0, 0, 0, 0]);
            for number in [day.inode, day.ctime, day.mtime] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(day.first.to_le_bytes());
            bytes.extend(day.count.to_le_bytes());
            bytes.extend([0; 8]);
        }
        bytes.extend(self.entries);
        bytes.extend(self.texts);
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }
}

/// The content of a segment's header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub days: usize,
    pub entries: usize,
    pub texts: usize,
}

impl Sizes {
    /// The bytes of each part of a segment that has `len` bytes, if they are so many together.
    pub fn read(header: &[u8; HEADER], len: u64) -> Option<Sizes> {
        let days = (u32_at(header, 8)? as usize).checked_mul(DAY_BYTES)?;
        let entries = (u32_at(header, 12)? as usize).checked_mul(ENTRY_BYTES)?;
        let texts = usize::try_from(u64_at(header, 16)?).ok()?;
        let all = (HEADER + CHECKSUM).checked_add(days)?.checked_add(entries)?.checked_add(texts)?;
        (header.starts_with(MAGIC) && all as u64 == len).then_some(Sizes { days, entries, texts })
    }
}

/// The tables of a segment.
#[derive(Debug, Default)]
pub struct Tables {
    days: Vec<Day>,
    /// The table of the bubbs; what follows it is left from another segment.
    entries: Vec<u8>,
    count: usize,
}

impl Tables {
    /// The bytes in which the table of the bubbs is read.
    pub(super) fn entries_mut(&mut self) -> &mut Vec<u8> {
        &mut self.entries
    }

    /// Takes over the bytes of the days' table and checks both: days and texts follow one another without a
    /// gap, ids ascend, kinds are kinds.
    pub(super) fn accept(&mut self, days: &[u8], sizes: Sizes) -> Option<()> {
        self.days.clear();
        self.count = sizes.entries / ENTRY_BYTES;
        let mut next = 0;
        for bytes in days.chunks_exact(DAY_BYTES) {
            let day = Day {
                day: *bytes.first()?,
                inode: u64_at(bytes, 8)?,
                ctime: u64_at(bytes, 16)?,
                mtime: u64_at(bytes, 24)?,
                first: u32_at(bytes, 32)?,
                count: u32_at(bytes, 36)?,
            };
            if day.first != next {
                return None;
            }
            next = day.first.checked_add(day.count)?;
            self.days.push(day);
        }
        let (entries, _) = self.entries.get(..sizes.entries)?.as_chunks::<ENTRY_BYTES>();
        let (mut last, mut at) = (None, 0u64);
        for bytes in entries {
            let (name, offset, len) = entry(bytes)?;
            if last.is_some_and(|last| last >= name.id) || offset != at {
                return None;
            }
            last = Some(name.id);
            at = at.checked_add(len)?.checked_add(1)?;
        }
        (next as usize == self.count && at == sizes.texts as u64).then_some(())
    }

    /// The days, in the order of their bubbs.
    pub fn days(&self) -> &[Day] {
        &self.days
    }

    /// The bytes of all texts that a range of bubbs takes, each with the newline after it.
    pub fn span(&self, numbers: Range<usize>) -> Range<usize> {
        let end = |number: usize| self.entry(number).map_or(0, |(_, offset, len)| offset + len + 1);
        let begin = numbers.start.checked_sub(1).map_or(0, end);
        begin as usize..numbers.end.checked_sub(1).map_or(0, end).max(begin) as usize
    }

    /// The name of a bubb by its number.
    pub fn name(&self, number: usize) -> Option<Name> {
        Some(self.entry(number)?.0)
    }

    /// The number of the bubb, of these, whose text or the newline after it has this byte of all texts.
    pub fn number_at(&self, numbers: Range<usize>, byte: usize) -> usize {
        let (mut low, mut high) = (numbers.start, numbers.end);
        while low < high {
            let middle = low.midpoint(high);
            match self.entry(middle) {
                Some((_, offset, _)) if offset <= byte as u64 => low = middle + 1,
                _ => high = middle,
            }
        }
        low.saturating_sub(1).max(numbers.start)
    }

    /// The number of the bubb with an id.
    pub fn find(&self, id: BubbId) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.name(middle)?.id {
                at if at == id => return Some(middle),
                at if at < id => low = middle + 1,
                _ => high = middle,
            }
        }
        None
    }

    fn entry(&self, number: usize) -> Option<(Name, u64, u64)> {
        entry(self.entries.get(number.checked_mul(ENTRY_BYTES)?..)?.first_chunk()?)
    }
}

/// Reads an entry of the table of the bubbs: the name, the offset of its text and the length of that.
fn entry(bytes: &[u8; ENTRY_BYTES]) -> Option<(Name, u64, u64)> {
    let id = |at: usize| bytes.get(at..at + 16)?.try_into().ok().map(BubbId::from_bytes);
    let prev = id(16)?;
    let hidden = match bytes[33] {
        b'0' => false,
        b'1' => true,
        _ => return None,
    };
    let name = Name {
        id: id(0)?,
        kind: Kind::of_letter(bytes[32])?,
        hidden,
        prev: (prev.bytes() != [0; 16]).then_some(prev),
    };
    Some((name, u64_at(bytes, 40)?, u64_at(bytes, 48)?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}
