//! The table of a day's bubbs in a segment of the text cache: their names, and the ranges of their texts.

use std::ops::Range;

use super::segment::{BlockEntry, ENTRY_BYTES, SegmentDay, u64_at};
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};

/// The bubbs of a day in a segment, indexed from 0.
#[derive(Debug)]
pub struct DayTable {
    entries: Vec<u8>,
    count: usize,
    /// Start of the day's texts in the text section.
    begin: usize,
}

impl DayTable {
    /// Parses and checks a day's part of the table: ids must ascend, kinds be known, and the texts be contiguous from
    /// `begin` to the day's end; each block must end with a bubb.
    pub(super) fn new(
        entries: Vec<u8>,
        day: &SegmentDay,
        blocks: &[BlockEntry],
        begin: usize,
    ) -> Option<DayTable> {
        if crc32fast::hash(&entries) != day.checksum {
            return None;
        }
        let (mut last, mut at) = (None, begin as u64);
        let mut ends = blocks.iter().map(|block| block.texts.end as u64).peekable();
        for bytes in entries.as_chunks::<ENTRY_BYTES>().0 {
            let (name, offset, len) = entry(bytes)?;
            if last.is_some_and(|last| last >= name.id) || offset != at {
                return None;
            }
            last = Some(name.id);
            at = at.checked_add(len)?.checked_add(1)?;
            ends.next_if_eq(&at);
        }
        let is_all = at == day.end() as u64 && ends.next().is_none();
        is_all.then_some(DayTable { count: entries.len() / ENTRY_BYTES, entries, begin })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the range of all texts of some bubbs, each with its newline.
    pub fn span(&self, numbers: Range<usize>) -> Range<usize> {
        let end =
            |number: usize| self.entry(number).map_or(0, |(_, offset, len)| (offset + len + 1) as usize);
        let begin = numbers.start.checked_sub(1).map_or(self.begin, end);
        begin..numbers.end.checked_sub(1).map_or(self.begin, end).max(begin)
    }

    pub fn name(&self, number: usize) -> Option<BubbName> {
        Some(self.entry(number)?.0)
    }

    /// Returns the index of the bubb, among `numbers`, whose text or newline contains byte `byte` of the text section.
    pub fn number_at(&self, numbers: Range<usize>, byte: usize) -> usize {
        let is_before = |number| matches!(self.entry(number), Some((_, offset, _)) if offset <= byte as u64);
        first_not(numbers.clone(), is_before).saturating_sub(1).max(numbers.start)
    }

    pub fn find(&self, id: BubbId) -> Option<BubbName> {
        let number = first_not(0..self.count, |number| self.name(number).is_some_and(|name| name.id < id));
        self.name(number).filter(|name| name.id == id)
    }

    fn entry(&self, number: usize) -> Option<(BubbName, u64, u64)> {
        entry(self.entries.get(number.checked_mul(ENTRY_BYTES)?..)?.first_chunk()?)
    }
}

/// Returns the first number of a range for which `is_before` is false.
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

/// Parses an entry of the table: the name, the offset and the length of its text.
fn entry(bytes: &[u8; ENTRY_BYTES]) -> Option<(BubbName, u64, u64)> {
    let id = |at: usize| bytes.get(at..at + 16)?.try_into().ok().map(BubbId::from_bytes);
    let prev = id(16)?;
    let hidden = match bytes[33] {
        b'0' => false,
        b'1' => true,
        _ => return None,
    };
    let name = BubbName {
        id: id(0)?,
        role: Role::from_letter(bytes[32])?,
        hidden,
        prev: (prev.bytes() != [0; 16]).then_some(prev),
    };
    Some((name, u64_at(bytes, 40)?, u64_at(bytes, 48)?))
}
