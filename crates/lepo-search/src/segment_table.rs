//! The table of a day's bubbs in a segment of the text cache: their names, and the ranges of their texts.

use std::ops::Range;

use super::segment::{BlockEntry, ENTRY_BYTES, SegmentDay, u64_at};
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};

/// The bubbs of a day in a segment, by index, in the order of their ids.
#[derive(Debug)]
pub struct DayTable {
    entries: Vec<u8>,
    count: usize,
    /// Start of the day's texts in the text section.
    texts_start: usize,
}

impl DayTable {
    /// Parses and checks a day's part of the table: ids must ascend, kinds be known, and the texts be contiguous from
    /// `texts_start` to the day's end; each block must end with a bubb.
    pub(super) fn new(
        entries: Vec<u8>,
        day: &SegmentDay,
        blocks: &[BlockEntry],
        texts_start: usize,
    ) -> Option<DayTable> {
        if crc32fast::hash(&entries) != day.checksum {
            return None;
        }
        let (mut last, mut at) = (None, texts_start as u64);
        let mut ends = blocks.iter().map(|block| block.texts.end as u64).peekable();
        for bytes in entries.as_chunks::<ENTRY_BYTES>().0 {
            let (name, offset, len) = parse_entry(bytes)?;
            if last.is_some_and(|last| last >= name.id) || offset != at {
                return None;
            }
            last = Some(name.id);
            at = at.checked_add(len)?.checked_add(1)?;
            ends.next_if_eq(&at);
        }
        let is_all = at == day.end() as u64 && ends.next().is_none();
        is_all.then_some(DayTable { count: entries.len() / ENTRY_BYTES, entries, texts_start })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the range of the texts of some bubbs in the text section, each text with its newline.
    pub fn span(&self, indexes: Range<usize>) -> Range<usize> {
        let end = |index: usize| self.entry(index).map_or(0, |(_, offset, len)| (offset + len + 1) as usize);
        let start = indexes.start.checked_sub(1).map_or(self.texts_start, end);
        start..indexes.end.checked_sub(1).map_or(self.texts_start, end).max(start)
    }

    pub fn name(&self, index: usize) -> Option<BubbName> {
        Some(self.entry(index)?.0)
    }

    /// Returns the index of the bubb, among `indexes`, whose text or newline is at `offset` of the text section.
    pub fn index_at(&self, indexes: Range<usize>, offset: usize) -> usize {
        let is_before = |index| matches!(self.entry(index), Some((_, start, _)) if start <= offset as u64);
        partition_point(indexes.clone(), is_before).saturating_sub(1).max(indexes.start)
    }

    pub fn find(&self, id: BubbId) -> Option<BubbName> {
        let index = partition_point(0..self.count, |index| self.name(index).is_some_and(|name| name.id < id));
        self.name(index).filter(|name| name.id == id)
    }

    /// Parses the entry at an index: the name, and the offset and length of its text.
    fn entry(&self, index: usize) -> Option<(BubbName, u64, u64)> {
        parse_entry(self.entries.get(index.checked_mul(ENTRY_BYTES)?..)?.first_chunk()?)
    }
}

/// Returns the first index of a range for which `is_before` is false, by binary search.
fn partition_point(indexes: Range<usize>, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (indexes.start, indexes.end);
    while low < high {
        let middle = low.midpoint(high);
        match is_before(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// Parses an entry of the table.
fn parse_entry(bytes: &[u8; ENTRY_BYTES]) -> Option<(BubbName, u64, u64)> {
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
