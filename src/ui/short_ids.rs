//! Ids as a terminal shows them: their last characters, where no other one that was read ends so.

use std::collections::HashSet;

use lepo_store::bubb::BubbId;

/// Characters of a short id.
const SHORT: usize = 8;

/// The bits of an id that its last characters hold, five each.
const ENDING: u128 = (1 << (5 * SHORT)) - 1;

/// The form of ids in one output.
#[derive(Debug, Default)]
pub struct ShortIds {
    /// The endings that several ids have; none where ids are shown whole.
    shared: Option<HashSet<u128>>,
    /// The endings of ids that were read one by one.
    read: HashSet<u128>,
}

impl ShortIds {
    /// Short forms, each of which is of one of these ids only.
    pub fn of(ids: impl Iterator<Item = BubbId>) -> ShortIds {
        let mut endings: Vec<u128> = ids.map(ending).collect();
        endings.sort_unstable();
        let shared = endings.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        ShortIds { shared: Some(shared), read: HashSet::new() }
    }

    /// Takes up one more id, so that it and others are shown whole if they end alike.
    pub fn read(&mut self, id: BubbId) {
        let shared = self.shared.get_or_insert_default();
        if !self.read.insert(ending(id)) {
            shared.insert(ending(id));
        }
    }

    /// Short forms if there is a terminal to show them on, else whole ids.
    pub fn on_terminal(is_terminal: bool, ids: impl Iterator<Item = BubbId>) -> ShortIds {
        if is_terminal { ShortIds::of(ids) } else { ShortIds::default() }
    }

    /// The id as it is shown. Every command takes it.
    pub fn show(&self, id: BubbId) -> String {
        let whole = id.to_string();
        match &self.shared {
            Some(shared) if !shared.contains(&ending(id)) => {
                whole.get(BubbId::LEN - SHORT..).map(str::to_string).unwrap_or(whole)
            }
            _ => whole,
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
        let shorts = ShortIds::of([a, c].into_iter());
        assert_eq!((shorts.show(a), shorts.show(c)), ("W7QFR1KV".into(), "W7QFR1K0".into()));
        let shorts = ShortIds::of([a, b, c].into_iter());
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
