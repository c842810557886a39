//! Reads a segment of the text cache a block at a time, so that what is searched is still in the processor's
//! cache, and so that the memory needed is that of a block.

use std::io::Read;
use std::ops::{ControlFlow, Range};

use crc32fast::Hasher;

#[cfg(any(test, fuzzing))]
use super::segment::CHECKSUM;
use super::segment::{Day, HEADER, LARGEST, Sizes, Tables};
use crate::bubb::Name;

/// Bytes of texts that are read at once, where no single one has more.
const BLOCK: usize = 256 << 10;

/// A block of a segment's texts: neighbours of one day.
pub struct Block<'b> {
    /// The segment's tables.
    pub tables: &'b Tables,
    /// The day.
    pub day: &'b Day,
    /// The numbers of its bubbs that are in this block; none for a day without bubbs.
    pub numbers: Range<usize>,
    /// Their texts, each followed by a newline.
    pub texts: &'b [u8],
}

impl<'b> Block<'b> {
    /// True if this is the day's first block.
    pub fn is_first(&self) -> bool {
        self.numbers.start == self.day.numbers().start
    }

    /// True if no more blocks of this day follow.
    pub fn is_last(&self) -> bool {
        self.numbers.end == self.day.numbers().end
    }

    /// Its bubbs with their texts.
    pub fn bubbs(&self) -> impl Iterator<Item = (Name, &'b [u8])> {
        let (tables, texts, begin) = (self.tables, self.texts, self.tables.span(self.numbers.clone()).start);
        self.numbers.clone().filter_map(move |number| {
            let span = tables.span(number..number + 1);
            let text = texts.get(span.start.checked_sub(begin)?..span.end.checked_sub(begin)?)?;
            Some((tables.name(number)?, text.split_last()?.1))
        })
    }
}

/// Reads segments one after another, with the same buffers.
pub struct SegmentReader {
    block: usize,
    tables: Tables,
    texts: Vec<u8>,
}

impl Default for SegmentReader {
    fn default() -> Self {
        SegmentReader { block: BLOCK, tables: Tables::default(), texts: Vec::new() }
    }
}

impl SegmentReader {
    /// Reads a segment of `len` bytes and gives all its blocks to `each`, until that breaks. `Some` if all was
    /// read and found right; otherwise what `each` was given may be wrong.
    pub fn read(
        &mut self,
        mut source: impl Read,
        len: u64,
        mut each: impl FnMut(&Block<'_>) -> ControlFlow<()>,
    ) -> Option<()> {
        if len > LARGEST as u64 {
            return None;
        }
        let mut header = [0; HEADER];
        source.read_exact(&mut header).ok()?;
        let sizes = Sizes::read(&header, len)?;
        let mut hasher = Hasher::new();
        hasher.update(&header);
        let mut part = |buffer: &mut Vec<u8>, len: usize| {
            // Never made shorter: to make it longer again costs as much as to read it.
            if buffer.len() < len {
                buffer.try_reserve(len - buffer.len()).ok()?;
                buffer.resize(len, 0);
            }
            let part = buffer.get_mut(..len)?;
            source.read_exact(part).ok()?;
            hasher.update(part);
            Some(())
        };
        part(&mut self.texts, sizes.days)?;
        part(self.tables.entries_mut(), sizes.entries)?;
        self.tables.accept(self.texts.get(..sizes.days)?, sizes)?;
        for day in self.tables.days() {
            let mut numbers = day.numbers();
            loop {
                let block = self.next_block(numbers.clone());
                let len = self.tables.span(block.clone()).len();
                part(&mut self.texts, len)?;
                numbers.start = block.end;
                let texts = self.texts.get(..len)?;
                if each(&Block { tables: &self.tables, day, numbers: block, texts }).is_break() {
                    return None;
                }
                if numbers.is_empty() {
                    break;
                }
            }
        }
        let checksum = hasher.finalize().to_le_bytes();
        let mut told = checksum;
        source.read_exact(&mut told).ok()?;
        (told == checksum).then_some(())
    }

    /// The first of these bubbs, as many as a block holds and one at least.
    fn next_block(&self, numbers: Range<usize>) -> Range<usize> {
        let span = self.tables.span(numbers.clone());
        if span.len() <= self.block {
            return numbers;
        }
        let end = self.tables.number_at(numbers.clone(), span.start + self.block);
        numbers.start..end.max(numbers.start + 1)
    }
}

/// For fuzzing: reads bytes as a segment whose checksum is right, and all that it says; how many bubbs it has.
#[cfg(any(test, fuzzing))]
pub fn read_forged(mut bytes: Vec<u8>, block: usize) -> Option<usize> {
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    let mut reader = SegmentReader { block, ..SegmentReader::default() };
    let (mut count, mut texts) = (0, Vec::new());
    let right = reader.read(bytes.as_slice(), bytes.len() as u64, |block| {
        assert_eq!(block.numbers.len(), block.bubbs().count());
        let begin = block.tables.span(block.numbers.clone()).start;
        assert_eq!(begin, texts.len());
        for number in block.numbers.clone() {
            let span = block.tables.span(number..number + 1);
            let at = |byte| block.tables.number_at(block.numbers.clone(), byte);
            assert_eq!([at(span.start), at(span.end - 1)], [number; 2]);
        }
        count += block.numbers.len();
        texts.extend(block.texts);
        ControlFlow::Continue(())
    });
    right.map(|()| {
        assert!(bytes[..bytes.len() - CHECKSUM].ends_with(&texts));
        count
    })
}

#[cfg(test)]
mod tests {
    use super::super::segment::SegmentWriter;
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
    fn blocks(bytes: &[u8], block: usize) -> Option<Vec<(u8, String, Vec<Name>)>> {
        let mut blocks = Vec::new();
        let mut reader = SegmentReader { block, ..SegmentReader::default() };
        let right = reader.read(bytes, bytes.len() as u64, |block| {
            let text = String::from_utf8_lossy(block.texts).into_owned();
            blocks.push((block.day.day, text, block.bubbs().map(|(name, _)| name).collect()));
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
            blocks(&bytes, BLOCK).unwrap(),
            [(1, text("first\nline\n\n"), vec![a, b]), third.clone(), fourth.clone()]
        );
        assert_eq!(
            blocks(&bytes, 1).unwrap(),
            [(1, text("first\nline\n"), vec![a]), (1, text("\n"), vec![b]), third, fourth]
        );
        let mut reader = SegmentReader::default();
        reader.read(bytes.as_slice(), bytes.len() as u64, |_| ControlFlow::Continue(())).unwrap();
        let days = reader.tables.days();
        assert!(days[1].is_unchanged(&Day::new(2, 17, 18, 19)));
        assert!(!days[1].is_unchanged(&Day::new(2, 17, 20, 19)));
        // The same reader reads the next one, and one that is broken off is not right.
        reader.read(bytes.as_slice(), bytes.len() as u64, |_| ControlFlow::Continue(())).unwrap();
        assert!(reader.read(bytes.as_slice(), bytes.len() as u64, |_| ControlFlow::Break(())).is_none());
        assert!(reader.read(bytes.as_slice(), bytes.len() as u64 + 1, |_| ControlFlow::Break(())).is_none());
    }

    #[test]
    fn a_torn_or_changed_segment_is_absent() {
        let (bytes, _) = sample();
        for end in 0..bytes.len() {
            assert!(blocks(&bytes[..end], BLOCK).is_none(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(blocks(&changed, BLOCK).is_none(), "changed at {at}");
        }
    }

    #[test]
    fn a_forged_segment_with_a_right_checksum_has_right_bounds_or_is_absent() {
        let (bytes, _) = sample();
        let body = &bytes[..bytes.len() - CHECKSUM];
        assert_eq!(read_forged(body.to_vec(), 1), Some(3));
        for at in 8..body.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut forged = body.to_vec();
                forged[at] = value;
                // Blocks of any form are read without a panic.
                assert_eq!(read_forged(forged.clone(), 1), read_forged(forged, BLOCK));
            }
        }
    }
}
