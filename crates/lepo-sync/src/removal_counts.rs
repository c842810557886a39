//! The record of removals and restorations: a map that two clones merge by maximum, without conflicts.
//!
//! The file `_gone` has sorted lines `KEY REMOVED RESTORED`: a key is an id, or `branch:FILE@ID`; the numbers count
//! how often it was removed and restored. A key removed more often than restored is gone.

use std::collections::BTreeMap;

use lepo_store::bubb::BubbId;

/// Counts of removals and restorations by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovalCounts(BTreeMap<String, (u32, u32)>);

impl RemovalCounts {
    /// Parses the file; malformed lines are skipped.
    pub fn parse(text: &[u8]) -> RemovalCounts {
        let lines = text.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
        let read = |line: &str| {
            let mut words = line.split(' ');
            let key = words.next().filter(|key| is_key(key))?;
            let counts = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            words.next().is_none().then(|| (key.to_string(), counts))
        };
        RemovalCounts(lines.filter_map(read).collect())
    }

    pub fn text(&self) -> String {
        self.0.iter().map(|(key, (removed, restored))| format!("{key} {removed} {restored}\n")).collect()
    }

    pub fn merge(&mut self, other: &RemovalCounts) {
        for (key, (removed, restored)) in &other.0 {
            let mine = self.0.entry(key.clone()).or_default();
            *mine = (mine.0.max(*removed), mine.1.max(*restored));
        }
    }

    pub fn contains(&self, id: BubbId) -> bool {
        self.is_gone(&id.to_string())
    }

    /// Whether a branch is gone as a name of this bubb.
    pub fn has_branch(&self, file: &str, id: BubbId) -> bool {
        self.is_gone(&branch_key(file, id))
    }

    pub fn remove(&mut self, id: BubbId) {
        self.note_removed(id.to_string());
    }

    pub fn restore(&mut self, id: BubbId) {
        self.note_restored(&id.to_string());
    }

    /// Records that a branch of this bubb was deleted.
    pub fn remove_branch(&mut self, file: &str, id: BubbId) {
        self.note_removed(branch_key(file, id));
    }

    /// Records that a branch names this bubb again.
    pub fn restore_branch(&mut self, file: &str, id: BubbId) {
        self.note_restored(&branch_key(file, id));
    }

    fn is_gone(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|(removed, restored)| removed > restored)
    }

    fn note_removed(&mut self, key: String) {
        let counts = self.0.entry(key).or_default();
        if counts.0 <= counts.1 {
            counts.0 = counts.1.saturating_add(1);
        }
    }

    fn note_restored(&mut self, key: &str) {
        if let Some(counts) = self.0.get_mut(key) {
            counts.1 = counts.1.max(counts.0);
        }
    }
}

fn branch_key(file: &str, id: BubbId) -> String {
    format!("branch:{file}@{id}")
}

fn is_key(key: &str) -> bool {
    let id = match key.strip_prefix("branch:") {
        Some(branch) => branch.rsplit_once('@').map(|(_, id)| id).unwrap_or_default(),
        None => key,
    };
    BubbId::parse(id.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(end: char) -> BubbId {
        BubbId::parse(format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}").as_bytes()).unwrap()
    }

    #[test]
    fn the_file_is_read_as_written_and_rubbish_is_skipped() {
        let mut removed = RemovalCounts::default();
        removed.remove(id('A'));
        removed.remove_branch("a%2Fb", id('B'));
        removed.restore_branch("a%2Fb", id('B'));
        let text = removed.text();
        assert_eq!(text, format!("{} 1 0\nbranch:a%2Fb@{} 1 1\n", id('A'), id('B')));
        assert_eq!(RemovalCounts::parse(text.as_bytes()), removed);
        let rubbish = format!("x\n\nnot-an-id 1 0\n{} 1\n{} 1 0 9\n\u{fffd}", id('A'), id('A'));
        assert!(RemovalCounts::parse(rubbish.as_bytes()).text().is_empty());
    }

    #[test]
    fn merging_is_by_maximum_in_any_order() {
        let mut a = RemovalCounts::default();
        a.remove(id('A'));
        let mut b = a.clone();
        b.restore(id('A'));
        let mut c = b.clone();
        c.remove(id('A'));
        c.remove(id('B'));
        for order in [[&a, &b, &c], [&c, &b, &a], [&b, &c, &a]] {
            let mut all = RemovalCounts::default();
            for part in order {
                all.merge(part);
            }
            assert_eq!(all, c);
        }
        assert!(a.contains(id('A')) && !b.contains(id('A')) && c.contains(id('A')) && !a.contains(id('B')));
    }

    #[test]
    fn what_was_never_removed_cannot_be_restored_and_twice_is_once() {
        let mut removed = RemovalCounts::default();
        removed.restore(id('A'));
        assert!(removed.text().is_empty());
        removed.remove(id('A'));
        removed.remove(id('A'));
        assert_eq!(removed.text(), format!("{} 1 0\n", id('A')));
    }
}
