//! Reads forged segments with correct checksums, for fuzzing.

use std::ops::ControlFlow;

use super::PatternOptions;
use super::literals::RequiredTrigrams;
use super::segment::with_checksums;
use super::segment_reader::{SegmentBlock, SegmentReader};

/// Corrects the checksums of a segment and reads all of it; returns the number of its bubbs.
pub fn read_forged(bytes: &[u8]) -> Option<usize> {
    let bytes = with_checksums(bytes)?;
    let (source, len, mut reader) = (&bytes.as_slice(), bytes.len() as u64, SegmentReader::default());
    let (mut count, mut texts) = (0, Vec::<u8>::new());
    let right = reader.read(
        source,
        len,
        None,
        |_| Some(()),
        |(), block| {
            assert_eq!(block.begin, texts.len());
            texts.extend(block.texts);
            let Some(table) = block.table() else { return ControlFlow::Break(()) };
            for (index, byte) in (0..table.count()).map(|index| (index, table.span(index..index + 1))) {
                let at = |byte| table.index_at(0..table.count(), byte);
                assert_eq!([at(byte.start), at(byte.end - 1)], [index; 2]);
                let id = table.name(index).map(|name| name.id);
                assert_eq!(id.and_then(|id| table.find(id)).map(|name| name.id), id);
            }
            let bubbs = block.bubbs().map(|(_, text)| text.len() + 1);
            assert_eq!(bubbs.sum::<usize>(), block.texts.len());
            if block.is_last {
                count += table.count();
            }
            ControlFlow::Continue(())
        },
    );
    // A forged filter must not change the content of the texts.
    let needed = RequiredTrigrams::from_pattern("why|그만", &PatternOptions::default());
    let each = |(): &(), block: &SegmentBlock<'_>| {
        assert!(
            block.texts.is_empty() || texts.get(block.begin..).unwrap_or_default().starts_with(block.texts)
        );
        ControlFlow::Continue(())
    };
    if right.is_some() {
        assert_eq!(reader.read(source, len, needed.as_ref(), |_| Some(()), each), right);
    }
    right.map(|()| count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEDS: [&[u8]; 2] =
        [include_bytes!("../../../fuzz/seeds/segment/a"), include_bytes!("../../../fuzz/seeds/segment/b")];

    #[test]
    fn the_fuzzers_seeds_are_segments() {
        assert_eq!(SEEDS.map(read_forged), [Some(3), Some(0)]);
    }

    #[test]
    fn a_forged_segment_with_right_checksums_has_right_bounds_or_is_absent() {
        for (seed, at) in SEEDS.into_iter().flat_map(|seed| (8..seed.len()).map(move |at| (seed, at))) {
            for value in [0, 1, 2, 8, 0x7f, 0xff] {
                let mut forged = seed.to_vec();
                forged[at] = value;
                // No forged block may cause a panic.
                read_forged(&forged);
            }
        }
    }

    #[test]
    fn a_segment_forged_in_several_places_is_read_without_a_panic() {
        let steps = 20_000;
        let mut state = 7u64;
        let mut roll = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut read = 0;
        for _ in 0..steps {
            let mut forged = SEEDS[0].to_vec();
            for _ in 0..=roll(6) {
                let at = 8 + roll(forged.len() - 8);
                forged[at] = match roll(3) {
                    0 => roll(256) as u8,
                    1 => forged[at].wrapping_add(1),
                    _ => forged[8 + roll(forged.len() - 8)],
                };
            }
            read += usize::from(read_forged(&forged).is_some());
        }
        assert!((1..steps).contains(&read), "some are right: {read}");
    }
}
