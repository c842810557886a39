//! Short ids for a terminal: the last characters, if no other listed id ends with them.

use std::collections::HashSet;

use lepo_store::bubb::BubbId;

/// The length of a short id, in characters.
const SHORT: usize = 8;

/// Mask for the bits that the last characters encode, five each.
const ENDING: u128 = (1 << (5 * SHORT)) - 1;

/// The short forms of one output's ids.
#[derive(Debug, Default)]
pub struct ShortIds {
    /// The endings that several ids have; `None` if ids are printed whole.
    shared: Option<HashSet<u128>>,
    /// The endings of the ids passed to `read`.
    read: HashSet<u128>,
}

impl ShortIds {
    /// Creates short forms that are unique among `ids`.
    pub fn new(ids: impl Iterator<Item = BubbId>) -> ShortIds {
        let mut endings: Vec<u128> = ids.map(ending).collect();
        endings.sort_unstable();
        let shared = endings.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        ShortIds { shared: Some(shared), read: HashSet::new() }
    }

    /// Adds one more id; it and others with the same ending are then printed whole.
    pub fn read(&mut self, id: BubbId) {
        let shared = self.shared.get_or_insert_default();
        if !self.read.insert(ending(id)) {
            shared.insert(ending(id));
        }
    }

    /// Creates short forms on a terminal, else whole ids.
    pub fn on_terminal(is_terminal: bool, ids: impl Iterator<Item = BubbId>) -> ShortIds {
        if is_terminal { ShortIds::new(ids) } else { ShortIds::default() }
    }

    /// Returns the id as printed. Every command accepts it.
    pub fn show(&self, id: BubbId) -> String {
        let full = id.to_string();
        match &self.shared {
            Some(shared) if !shared.contains(&ending(id)) => {
                full.get(BubbId::LEN - SHORT..).map(str::to_string).unwrap_or(full)
            }
            _ => full,
        }
    }
}

fn ending(id: BubbId) -> u128 {
    id.number() & ENDING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_where_no_other_ends_so() {
        let id = |text: &str| BubbId::parse(text.as_bytes()).unwrap();
        let (a, b, c) = (
            id("01M8086YKPZESRZVZMW7QFR1KV"),
            id("01M8086YKPZESRZVZ0W7QFR1KV"),
            id("01M8086YKPZESRZVZMW7QFR1K0"),
        );
        let shorts = ShortIds::new([a, c].into_iter());
        assert_eq!((shorts.show(a), shorts.show(c)), ("W7QFR1KV".into(), "W7QFR1K0".into()));
        let shorts = ShortIds::new([a, b, c].into_iter());
        assert_eq!((shorts.show(a), shorts.show(b)), (a.to_string(), b.to_string()));
        assert_eq!(shorts.show(c).len(), SHORT);
        assert_eq!(ShortIds::default().show(a), a.to_string());
        let mut shorts = ShortIds::default();
        shorts.read(a);
        assert_eq!(shorts.show(a), "W7QFR1KV");
        shorts.read(b);
        assert_eq!((shorts.show(a), shorts.show(b)), (a.to_string(), b.to_string()));
    }
}
