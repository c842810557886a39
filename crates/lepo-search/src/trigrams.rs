//! A filter of the three bytes in a row that a text has: a bit for each, by a hash. One that the text has is always
//! found in its filter; one that it has not, in a quarter of cases or fewer, where the text is language or code.

/// Bytes of a filter at most.
const LARGEST: usize = 64 << 10;

/// Bytes of a filter at least: a text of any size has a filter, so that there is one case only.
const SMALLEST: usize = 8;

/// A trigram, hashed: the same for filters of every size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trigram(u32);

impl Trigram {
    fn new(bytes: [u8; 3]) -> Trigram {
        let [a, b, c] = bytes.map(u64::from);
        // All three decide about each of the bits that are kept: those of a small filter are the lowest.
        Trigram(((a | b << 8 | c << 16).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u32)
    }

    /// True if a filter has it. The filter has [a right size](is_size).
    pub fn is_in(self, filter: &[u8]) -> bool {
        let bit = self.bit(filter.len());
        filter.get(bit / 8).is_some_and(|byte| byte & (1 << (bit % 8)) != 0)
    }

    /// The number of its bit in a filter of so many bytes.
    fn bit(self, size: usize) -> usize {
        self.0 as usize & (8 * size - 1)
    }
}

/// The trigrams of some bytes, in their order.
pub fn trigrams(bytes: &[u8]) -> impl Iterator<Item = Trigram> {
    bytes.array_windows().map(|bytes| Trigram::new(*bytes))
}

/// True if a filter can have so many bytes.
pub fn is_size(bytes: usize) -> bool {
    bytes.is_power_of_two() && (SMALLEST..=LARGEST).contains(&bytes)
}

/// The filter of a text: a bit for four bytes of it, or fewer where it says the same again and again.
pub fn filter_of(text: &[u8]) -> Vec<u8> {
    let mut filter = vec![0u8; (text.len() / 32).next_power_of_two().clamp(SMALLEST, LARGEST)];
    let size = filter.len();
    for trigram in trigrams(text) {
        let bit = trigram.bit(size);
        if let Some(byte) = filter.get_mut(bit / 8) {
            *byte |= 1 << (bit % 8);
        }
    }
    // A half of the size has the lower bits of the same hashes. One bit of sixteen is set then at most: the blocks of a
    // store where the same is said again and again have the same filter, so one wrong answer is one for all of them.
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

    /// Numbers without an order.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, below: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % below
        }
    }

    /// Texts of some size in English, Korean, and bytes of any kind.
    fn texts(dice: &mut Dice, size: usize) -> [Vec<u8>; 3] {
        let words = ["the", "error", "is", "parse", "every", "unwrap", "lifetime", "of", "a", "chunk"];
        let mut english = Vec::new();
        while english.len() < size {
            english.extend(words[dice.roll(words.len())].bytes().chain([b' ']));
        }
        let syllable = |dice: &mut Dice| char::from_u32(0xac00 + dice.roll(11_172) as u32).unwrap();
        let korean: String = (0..size / 3).map(|_| syllable(dice)).collect();
        [english, korean.into_bytes(), (0..size).map(|_| dice.roll(256) as u8).collect()]
    }

    #[test]
    fn a_text_has_all_that_is_in_it() {
        let mut dice = Dice(7);
        for size in [0, 1, 2, 3, 10, 250, 1000, 20_000] {
            for text in texts(&mut dice, size) {
                let filter = filter_of(&text);
                assert!(is_size(filter.len()) && filter.len() <= SMALLEST.max(text.len() / 16));
                assert_eq!(trigrams(&text).count(), text.len().saturating_sub(2));
                assert!(trigrams(&text).all(|trigram| trigram.is_in(&filter)));
                // In the filter of a text with more before and after, too.
                let more = [b"before", text.as_slice(), b"after"].concat();
                let filter = filter_of(&more);
                assert!(trigrams(&text).all(|trigram| trigram.is_in(&filter)));
            }
        }
    }

    #[test]
    fn a_text_seldom_has_what_is_not_in_it() {
        let mut dice = Dice(7);
        let [english, ..] = texts(&mut dice, 100_000);
        let filter = filter_of(&english);
        // It says little, so little is needed.
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
        let mut dice = Dice(7);
        assert_eq!(filter_of(&texts(&mut dice, 3 << 20)[2]).len(), LARGEST);
    }
}
