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

use crate::bubb::{BubbId, Kind, Name};

const MAGIC: &[u8; 8] = b"lepotxt1";
const HEADER: usize = 24;
const DAY_BYTES: usize = 48;
const ENTRY_BYTES: usize = 56;
const CHECKSUM: usize = 4;

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
    /// How many bubbs it has.
    count: u32,
}

impl Day {
    /// A day folder of this identity and these times, without bubbs yet.
    pub fn new(day: u8, inode: u64, ctime: u64, mtime: u64) -> Day {
        Day { day, inode, ctime, mtime, first: 0, count: 0 }
    }

    /// Whether both describe the same folder in the same state.
    pub fn is_unchanged(&self, now: &Day) -> bool {
        (self.day, self.inode, self.ctime, self.mtime) == (now.day, now.inode, now.ctime, now.mtime)
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
        day.first = (self.entries.len() / ENTRY_BYTES) as u32;
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

    /// Bytes of text so far.
    pub fn text_bytes(&self) -> usize {
        self.texts.len()
    }

    /// The bytes of the segment.
    pub fn finish(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(
            HEADER + self.days.len() * DAY_BYTES + self.entries.len() + self.texts.len() + CHECKSUM,
        );
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

/// A segment whose checksum and bounds were found right.
pub struct Segment {
    bytes: Vec<u8>,
    days: Vec<Day>,
    count: usize,
    /// Where the texts begin.
    texts: usize,
}

impl Segment {
    /// Reads a segment; `None` if anything about it is wrong.
    pub fn parse(bytes: Vec<u8>) -> Option<Segment> {
        let body = bytes.len().checked_sub(CHECKSUM)?;
        let (checked, checksum) = bytes.split_at(body);
        if !checked.starts_with(MAGIC) || crc32fast::hash(checked).to_le_bytes() != checksum {
            return None;
        }
        let (days, count) = (u32_at(checked, 8)? as usize, u32_at(checked, 12)? as usize);
        let text_len = usize::try_from(u64_at(checked, 16)?).ok()?;
        let table = HEADER.checked_add(days.checked_mul(DAY_BYTES)?)?;
        let texts = table.checked_add(count.checked_mul(ENTRY_BYTES)?)?;
        if texts.checked_add(text_len)? != body {
            return None;
        }
        let mut read_days = Vec::with_capacity(days);
        let mut next = 0;
        for at in (HEADER..table).step_by(DAY_BYTES) {
            let day = Day {
                day: checked[at],
                inode: u64_at(checked, at + 8)?,
                ctime: u64_at(checked, at + 16)?,
                mtime: u64_at(checked, at + 24)?,
                first: u32_at(checked, at + 32)?,
                count: u32_at(checked, at + 36)?,
            };
            if day.first != next {
                return None;
            }
            next = day.first.checked_add(day.count)?;
            read_days.push(day);
        }
        let segment = Segment { days: read_days, count, texts, bytes };
        (next as usize == count && segment.entries_are_right(text_len)).then_some(segment)
    }

    /// Ids ascend, kinds are kinds, and the texts follow one another without a gap.
    fn entries_are_right(&self, text_len: usize) -> bool {
        let (mut last, mut at) = (None, 0u64);
        for number in 0..self.count {
            let Some((name, offset, len)) = self.entry(number) else { return false };
            if last.is_some_and(|last| last >= name.id) || offset != at {
                return false;
            }
            last = Some(name.id);
            let Some(end) = at.checked_add(len).and_then(|end| end.checked_add(1)) else { return false };
            at = end;
        }
        at == text_len as u64
    }

    /// Its days, in the order of their bubbs.
    pub fn days(&self) -> &[Day] {
        &self.days
    }

    /// All texts, each followed by a newline.
    pub fn texts(&self) -> &[u8] {
        &self.bytes[self.texts..self.bytes.len() - CHECKSUM]
    }

    /// The numbers of a day's bubbs.
    pub fn numbers_of(&self, day: &Day) -> std::ops::Range<usize> {
        day.first as usize..(day.first + day.count) as usize
    }

    /// The bytes of [`texts`](Self::texts) that a range of bubbs takes.
    pub fn span(&self, numbers: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let begin = |number: usize| match self.entry(number) {
            Some((_, offset, _)) => offset as usize,
            None => self.texts().len(),
        };
        begin(numbers.start)..begin(numbers.end)
    }

    /// The name of a bubb by its number.
    pub fn name(&self, number: usize) -> Option<Name> {
        Some(self.entry(number)?.0)
    }

    /// The text of a bubb by its number.
    pub fn text(&self, number: usize) -> Option<&[u8]> {
        let (_, offset, len) = self.entry(number)?;
        self.texts().get(offset as usize..)?.get(..len as usize)
    }

    /// The number of the bubb whose text, or the newline after it, has this byte of [`texts`](Self::texts).
    pub fn number_at(&self, byte: usize) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.entry(middle) {
                Some((_, offset, _)) if offset <= byte as u64 => low = middle + 1,
                _ => high = middle,
            }
        }
        low.saturating_sub(1)
    }

    fn entry(&self, number: usize) -> Option<(Name, u64, u64)> {
        if number >= self.count {
            return None;
        }
        let at = HEADER + self.days.len() * DAY_BYTES + number * ENTRY_BYTES;
        let bytes = self.bytes.get(at..at + ENTRY_BYTES)?;
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
}

/// For fuzzing: reads bytes as a segment whose checksum is right, and all that it says; how many bubbs it has.
#[cfg(fuzzing)]
pub fn read_forged(mut bytes: Vec<u8>) -> Option<usize> {
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    let segment = Segment::parse(bytes)?;
    for day in segment.days() {
        assert!(segment.texts().get(segment.span(segment.numbers_of(day))).is_some());
    }
    for number in 0..segment.count {
        assert!(segment.name(number).is_some() && segment.text(number).is_some());
        let span = segment.span(number..number + 1);
        assert_eq!([segment.number_at(span.start), segment.number_at(span.end - 1)], [number; 2]);
    }
    Some(segment.count)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        (writer.finish(), [a, b, c])
    }

    #[test]
    fn a_segment_gives_back_what_was_put_in() {
        let (bytes, [a, b, c]) = sample();
        let segment = Segment::parse(bytes).unwrap();
        assert_eq!(segment.texts(), "first\nline\n\n셋\n".as_bytes());
        assert_eq!([0, 1, 2].map(|n| segment.name(n).unwrap()), [a, b, c]);
        assert_eq!([0, 1, 2].map(|n| segment.text(n).unwrap().len()), [10, 0, 3]);
        assert_eq!([0, 5, 10, 11, 12, 15].map(|byte| segment.number_at(byte)), [0, 0, 0, 1, 2, 2]);
        assert!(segment.days()[1].is_unchanged(&Day::new(2, 17, 18, 19)));
        assert!(!segment.days()[1].is_unchanged(&Day::new(2, 17, 20, 19)));
        assert_eq!(segment.numbers_of(&segment.days()[1]), 2..3);
        assert_eq!(segment.span(2..3), 12..16);
        assert!(segment.name(3).is_none() && segment.text(3).is_none());
    }

    #[test]
    fn a_torn_or_changed_segment_is_absent() {
        let (bytes, _) = sample();
        for end in 0..bytes.len() {
            assert!(Segment::parse(bytes[..end].to_vec()).is_none(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Segment::parse(changed).is_none(), "changed at {at}");
        }
    }

    #[test]
    fn a_forged_segment_with_a_right_checksum_has_right_bounds_or_is_absent() {
        let (bytes, _) = sample();
        let body = bytes.len() - CHECKSUM;
        for at in 8..body {
            for value in [0, 1, 0x7f, 0xff] {
                let mut forged = bytes[..body].to_vec();
                forged[at] = value;
                let checksum = crc32fast::hash(&forged);
                forged.extend(checksum.to_le_bytes());
                if let Some(segment) = Segment::parse(forged) {
                    // What is taken can be read without a panic.
                    for number in 0..5 {
                        segment.text(number);
                        segment.name(number);
                    }
                    for day in segment.days() {
                        segment.span(segment.numbers_of(day));
                    }
                }
            }
        }
    }
}
