//! A Bloom filter of the trigrams of a text's bytes, with a bit for each hash. A trigram of the text is always in its
//! filter; another one in a quarter of cases or fewer, if the text is language or code.

/// Maximum filter size in bytes.
const LARGEST: usize = 64 << 10;

/// Minimum filter size in bytes; short texts get a filter too, to avoid a special case.
const SMALLEST: usize = 8;

/// A hashed trigram; the hash does not depend on the filter's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trigram(u32);

impl Trigram {
    fn new(bytes: [u8; 3]) -> Trigram {
        let [a, b, c] = bytes.map(u64::from);
        // All three bytes affect each of the remaining bits; a small filter uses the lowest.
        Trigram(((a | b << 8 | c << 16).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u32)
    }

    /// Whether a filter contains the trigram. The filter must have [a valid size](is_size).
    pub fn is_in(self, filter: &[u8]) -> bool {
        let bit = self.bit(filter.len());
        filter.get(bit / 8).is_some_and(|byte| byte & (1 << (bit % 8)) != 0)
    }

    /// Returns the index of its bit in a filter of `size` bytes.
    fn bit(self, size: usize) -> usize {
        self.0 as usize & (8 * size - 1)
    }
}

/// Returns the trigrams of some bytes, in order.
pub fn trigrams(bytes: &[u8]) -> impl Iterator<Item = Trigram> {
    bytes.array_windows().map(|bytes| Trigram::new(*bytes))
}

/// Whether `bytes` is a valid size of a filter.
pub fn is_size(bytes: usize) -> bool {
    bytes.is_power_of_two() && (SMALLEST..=LARGEST).contains(&bytes)
}

/// Builds the filter of a text: a bit for four bytes of text, or fewer if the text is repetitive.
pub fn filter_of(text: &[u8]) -> Vec<u8> {
    let mut filter = vec![0u8; (text.len() / 32).next_power_of_two().clamp(SMALLEST, LARGEST)];
    let size = filter.len();
    for trigram in trigrams(text) {
        let bit = trigram.bit(size);
        if let Some(byte) = filter.get_mut(bit / 8) {
            *byte |= 1 << (bit % 8);
        }
    }
    // Folding in half drops the highest bit of each hash. At most one bit in sixteen is set afterwards: blocks of a
    // repetitive store have equal filters, so a false positive would affect all of them.
    while filter.len() > SMALLEST && 4 * ones(&filter) <= filter.len() {
        let upper = filter.split_off(filter.len() / 2);
        filter.iter_mut().zip(upper).for_each(|(byte, upper)| *byte |= upper);
    }
    filter
}

fn ones(filter: &[u8]) -> usize {
    filter.iter().map(|byte| byte.count_ones() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pseudo-random generator.
    struct SeededDice(u64);

    impl SeededDice {
        fn roll(&mut self, below: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % below
        }
    }

    /// Returns texts of `size` bytes in English, Korean, and random bytes.
    fn texts(dice: &mut SeededDice, size: usize) -> [Vec<u8>; 3] {
        let words = ["the", "error", "is", "parse", "every", "unwrap", "lifetime", "of", "a", "chunk"];
        let mut english = Vec::new();
        while english.len() < size {
            english.extend(words[dice.roll(words.len())].bytes().chain([b' ']));
        }
        let syllable = |dice: &mut SeededDice| char::from_u32(0xac00 + dice.roll(11_172) as u32).unwrap();
        let korean: String = (0..size / 3).map(|_| syllable(dice)).collect();
        [english, korean.into_bytes(), (0..size).map(|_| dice.roll(256) as u8).collect()]
    }

    #[test]
    fn a_text_has_all_that_is_in_it() {
        let mut dice = SeededDice(7);
        for size in [0, 1, 2, 3, 10, 250, 1000, 20_000] {
            for text in texts(&mut dice, size) {
                let filter = filter_of(&text);
                assert!(is_size(filter.len()) && filter.len() <= SMALLEST.max(text.len() / 16));
                assert_eq!(trigrams(&text).count(), text.len().saturating_sub(2));
                assert!(trigrams(&text).all(|trigram| trigram.is_in(&filter)));
                // The trigrams are also in the filter of a longer text that contains this one.
                let more = [b"before", text.as_slice(), b"after"].concat();
                let filter = filter_of(&more);
                assert!(trigrams(&text).all(|trigram| trigram.is_in(&filter)));
            }
        }
    }

    #[test]
    fn a_text_seldom_has_what_is_not_in_it() {
        let mut dice = SeededDice(7);
        let [english, ..] = texts(&mut dice, 100_000);
        let filter = filter_of(&english);
        // A repetitive text has a small filter.
        assert!(filter.len() < 1024, "{}", filter.len());
        let absent: Vec<u8> = (0..9000).map(|_| b"0123456789XYZ#"[dice.roll(14)]).collect();
        let found = trigrams(&absent).filter(|trigram| trigram.is_in(&filter)).count();
        assert!(found < absent.len() / 12, "{found}");
        assert!(found > 0, "as any of these");
    }

    #[test]
    fn a_filter_has_one_of_few_sizes() {
        for (bytes, is_right) in
            [(0, false), (4, false), (8, true), (12, false), (64 << 10, true), (128 << 10, false)]
        {
            assert_eq!(is_size(bytes), is_right, "{bytes}");
        }
        assert_eq!(filter_of(b"").len(), SMALLEST);
        let mut dice = SeededDice(7);
        assert_eq!(filter_of(&texts(&mut dice, 3 << 20)[2]).len(), LARGEST);
    }
}
