//! A segment of the text cache: the bubbs of one month's day folders, texts one after another, with tables.
//!
//! The form, all numbers little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `lepotxt2` |
//! | 4 | number of days *d* |
//! | 4 | number of bubbs *n* |
//! | 8 | bytes of text *t* |
//! | 56 · d | a day: day of the month (1), padding (7), inode, ctime and mtime in nanoseconds (8 each), its first bubb and their number (4 each), the end of its texts (8), CRC-32 (ISO-HDLC) of its bubbs in the table (4), padding (4) |
//! | t | the texts, each followed by a newline |
//! | 4 | CRC-32 of all before it |
//! | 56 · n | a bubb: id and prev (16 each, prev zeros for a root), kind letter, hidden `0` or `1`, padding (6), offset of its text (8), length (8) |
//!
//! Bubbs are sorted by id, and each day's are neighbours. A segment whose checksums or whose bounds are wrong
//! is read as absent. The table of the bubbs comes last, because most days of a search have no match: of those it
//! is not read.

use std::ops::Range;

use crate::bubb::{BubbId, Kind, Name};

/// Bytes of a segment at most. Of a month with more no segment is made, and none is read.
pub const LARGEST: usize = 512 << 20;

const MAGIC: &[u8; 8] = b"lepotxt2";
pub(super) const HEADER: usize = 24;
pub(super) const DAY_BYTES: usize = 56;
pub(super) const ENTRY_BYTES: usize = 56;
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
    /// The end of its texts, in all texts.
    end: u64,
    /// The checksum of its part of that table.
    checksum: u32,
}

impl Day {
    /// A day folder of this identity and these times, without bubbs yet.
    pub fn new(day: u8, inode: u64, ctime: u64, mtime: u64) -> Day {
        Day { day, inode, ctime, mtime, first: 0, count: 0, end: 0, checksum: 0 }
    }

    /// True if both describe the same folder in the same state.
    pub fn is_unchanged(&self, now: &Day) -> bool {
        (self.day, self.inode, self.ctime, self.mtime) == (now.day, now.inode, now.ctime, now.mtime)
    }

    /// The place of its part of the table of the bubbs, in bytes of that.
    pub(super) fn entries(&self) -> Range<usize> {
        let begin = self.first as usize * ENTRY_BYTES;
        begin..begin + self.count as usize * ENTRY_BYTES
    }

    /// The end of its texts, in all texts.
    pub fn end(&self) -> usize {
        self.end as usize
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
        day.end = self.texts.len() as u64;
        day.checksum = crc32fast::hash(self.entries.get(day.entries()).unwrap_or_default());
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
            bytes.extend(day.end.to_le_bytes());
            bytes.extend(day.checksum.to_le_bytes());
            bytes.extend([0; 4]);
        }
        bytes.extend(self.texts);
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes.extend(self.entries);
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

/// Reads the table of the days and checks it: bubbs and texts follow one another without a gap, up to their ends.
pub(super) fn read_days(bytes: &[u8], sizes: Sizes) -> Option<Vec<Day>> {
    let (mut days, mut next, mut end) = (Vec::new(), 0, 0);
    for bytes in bytes.as_chunks::<DAY_BYTES>().0 {
        let day = Day {
            day: bytes[0],
            inode: u64_at(bytes, 8)?,
            ctime: u64_at(bytes, 16)?,
            mtime: u64_at(bytes, 24)?,
            first: u32_at(bytes, 32)?,
            count: u32_at(bytes, 36)?,
            end: u64_at(bytes, 40)?,
            checksum: u32_at(bytes, 48)?,
        };
        if day.first != next || day.end < end {
            return None;
        }
        next = day.first.checked_add(day.count)?;
        end = day.end;
        days.push(day);
    }
    let entries = (next as usize).checked_mul(ENTRY_BYTES);
    (entries == Some(sizes.entries) && end == sizes.texts as u64).then_some(days)
}

/// The bubbs of one day of a segment. They are numbered from 0.
#[derive(Debug)]
pub struct Table {
    entries: Vec<u8>,
    count: usize,
    /// The beginning of the day's texts, in all texts.
    begin: usize,
}

impl Table {
    /// Takes the bytes of a day's part of the table, and checks them: ids ascend, kinds are kinds, and the texts
    /// are those of the day, from `begin` on, without a gap.
    pub(super) fn new(entries: Vec<u8>, day: &Day, begin: usize) -> Option<Table> {
        if crc32fast::hash(&entries) != day.checksum {
            return None;
        }
        let (mut last, mut at) = (None, begin as u64);
        for bytes in entries.as_chunks::<ENTRY_BYTES>().0 {
            let (name, offset, len) = entry(bytes)?;
            if last.is_some_and(|last| last >= name.id) || offset != at {
                return None;
            }
            last = Some(name.id);
            at = at.checked_add(len)?.checked_add(1)?;
        }
        (at == day.end).then_some(Table { entries, count: day.count as usize, begin })
    }

    /// The number of the day's bubbs.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The bytes of all texts that a range of bubbs takes, each with the newline after it.
    pub fn span(&self, numbers: Range<usize>) -> Range<usize> {
        let end =
            |number: usize| self.entry(number).map_or(0, |(_, offset, len)| (offset + len + 1) as usize);
        let begin = numbers.start.checked_sub(1).map_or(self.begin, end);
        begin..numbers.end.checked_sub(1).map_or(self.begin, end).max(begin)
    }

    /// The name of a bubb by its number.
    pub fn name(&self, number: usize) -> Option<Name> {
        Some(self.entry(number)?.0)
    }

    /// The number of the bubb, of these, whose text or the newline after it has this byte of all texts.
    pub fn number_at(&self, numbers: Range<usize>, byte: usize) -> usize {
        let is_before = |number| matches!(self.entry(number), Some((_, offset, _)) if offset <= byte as u64);
        first_not(numbers.clone(), is_before).saturating_sub(1).max(numbers.start)
    }

    /// The name of the bubb with an id.
    pub fn find(&self, id: BubbId) -> Option<Name> {
        let number = first_not(0..self.count, |number| self.name(number).is_some_and(|name| name.id < id));
        self.name(number).filter(|name| name.id == id)
    }

    fn entry(&self, number: usize) -> Option<(Name, u64, u64)> {
        entry(self.entries.get(number.checked_mul(ENTRY_BYTES)?..)?.first_chunk()?)
    }
}

/// The first number of a range that is not before what is looked for.
fn first_not(numbers: Range<usize>, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (numbers.start, numbers.end);
    while low < high {
        let middle = low.midpoint(high);
        match is_before(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
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

/// For fuzzing: a segment without its checksum and with any in its days, made right.
#[cfg(any(test, fuzzing))]
pub(super) fn with_checksums(bytes: &[u8]) -> Option<Vec<u8>> {
    let sizes = Sizes::read(bytes.first_chunk()?, (bytes.len() + CHECKSUM) as u64)?;
    let (front, entries) = bytes.split_at_checked(HEADER + sizes.days + sizes.texts)?;
    let mut whole = front.to_vec();
    for day in whole.get_mut(HEADER..HEADER + sizes.days)?.as_chunks_mut::<DAY_BYTES>().0 {
        let begin = u32_at(day, 32)? as usize * ENTRY_BYTES;
        let part = entries.get(begin..begin + u32_at(day, 36)? as usize * ENTRY_BYTES);
        day[48..52].copy_from_slice(&crc32fast::hash(part.unwrap_or_default()).to_le_bytes());
    }
    whole.extend(crc32fast::hash(&whole).to_le_bytes());
    whole.extend(entries);
    Some(whole)
}
