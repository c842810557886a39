//! The titles of conversations as clones exchange them: the latest for each conversation, with its time, so that
//! clones merge by maximum. The file `_titles` has the format of a store's, with a line for each conversation,
//! sorted.

use std::collections::BTreeMap;

use super::removal_counts::RemovalCounts;
use lepo_base::error::Result;
use lepo_store::bubb::BubbId;
use lepo_store::store::{Store, latest_titles};

/// The latest title of each conversation, by its root, with its time in milliseconds since 1970. An empty title means
/// that it was removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncTitles(BTreeMap<BubbId, (u64, String)>);

impl SyncTitles {
    /// Reads the titles that users set in a store.
    pub fn read(store: &Store) -> Result<SyncTitles> {
        Ok(SyncTitles(store.titles_with_times()?))
    }

    pub fn parse(text: &[u8]) -> SyncTitles {
        SyncTitles(latest_titles(&String::from_utf8_lossy(text)))
    }

    pub fn text(&self) -> String {
        self.0.iter().map(|(root, (time, title))| format!("{time} {root} {title}\n")).collect()
    }

    /// Merges the titles of another clone. If the times are equal, the own title wins, so that redacted text does not
    /// come back.
    pub fn merge(&mut self, other: &SyncTitles) {
        for (root, (time, title)) in &other.0 {
            if self.0.get(root).is_none_or(|(known, _)| known < time) {
                self.0.insert(*root, (*time, title.clone()));
            }
        }
    }

    /// Drops the titles of removed conversations.
    pub fn retain_there(&mut self, removed: &RemovalCounts) {
        self.0.retain(|root, _| !removed.contains(*root));
    }

    /// Removes the titles that satisfy `is_held`, and returns their roots.
    pub fn withhold(&mut self, is_held: impl Fn(BubbId, &str) -> bool) -> Vec<BubbId> {
        let withheld: Vec<BubbId> = self
            .0
            .iter()
            .filter(|(root, (_, title))| is_held(**root, title))
            .map(|(root, _)| *root)
            .collect();
        withheld.iter().for_each(|root| drop(self.0.remove(root)));
        withheld
    }

    /// Writes the titles that a store lacks or has in an older version.
    pub fn write_into(&self, store: &Store) -> Result<()> {
        let known = store.titles_with_times()?;
        let is_new = |(root, (time, _)): &(&BubbId, &(u64, String))| {
            known.get(root).is_none_or(|(known, _)| known < time)
        };
        let new: Vec<(u64, BubbId, &str)> = self
            .0
            .iter()
            .filter(is_new)
            .map(|(root, (time, title))| (*time, *root, title.as_str()))
            .collect();
        if new.is_empty() { Ok(()) } else { store.add_titles(&new) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::id;

    #[test]
    fn titles_merge_by_their_time_and_are_written_once() {
        let text = |lines: &[(u64, &str, &str)]| -> String {
            lines.iter().map(|(time, root, title)| format!("{time} {} {title}\n", id(root))).collect()
        };
        let mine = SyncTitles::parse(text(&[(1, "A", "old"), (5, "B", "mine"), (3, "C", "gone")]).as_bytes());
        let theirs = SyncTitles::parse(text(&[(2, "A", "new"), (5, "B", "theirs"), (9, "D", "")]).as_bytes());
        let mut merged = mine.clone();
        merged.merge(&theirs);
        let mut removed = RemovalCounts::default();
        removed.remove(id("C"));
        merged.retain_there(&removed);
        assert_eq!(merged.text(), text(&[(2, "A", "new"), (5, "B", "mine"), (9, "D", "")]));
        assert_eq!(SyncTitles::parse(merged.text().as_bytes()), merged);

        let dir = tempfile::tempdir().unwrap();
        let store = Store::make(dir.path(), std::path::Path::new(".lepo"), "").unwrap().0;
        for _ in 0..2 {
            merged.write_into(&store).unwrap();
            assert_eq!(std::fs::read_to_string(dir.path().join(".lepo/_titles")).unwrap(), merged.text());
        }
        assert_eq!(SyncTitles::read(&store).unwrap(), merged);
        let mut sent = merged.clone();
        assert_eq!(sent.withhold(|_, title| title == "new"), [id("A")]);
        assert_eq!(sent.text(), text(&[(5, "B", "mine"), (9, "D", "")]));
    }
}
