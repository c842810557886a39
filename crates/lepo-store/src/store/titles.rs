//! `_titles`: names that users set for conversations, a line each: `MILLISECONDS ROOT-ID TITLE`.
//!
//! Lines are only appended, so that two copies of a store merge by union; the latest line for a root counts.

use std::collections::{BTreeMap, HashMap, HashSet};

use memchr::memmem;

use super::dir::now;
use super::handle::Store;
use crate::bubb::BubbId;
use lepo_base::error::Result;

const TITLES: &str = "_titles";

#[doc(hidden)]
impl Store {
    /// Sets the title of the conversations that start at `root`; an empty one removes it.
    pub fn set_title(&self, root: BubbId, title: &str) -> Result<()> {
        self.add_titles(&[(now(), root, title)])
    }

    /// Adds titles with their times, as another clone recorded them.
    pub fn add_titles(&self, titles: &[(u64, BubbId, &str)]) -> Result<()> {
        let line =
            |(time, root, title): &(u64, BubbId, &str)| format!("{time} {root} {}\n", on_one_line(title));
        self.dir.append_durably(TITLES, titles.iter().map(line).collect::<String>().as_bytes())
    }

    /// Deletes the lines of these roots.
    pub fn forget_titles(&self, roots: &HashSet<BubbId>) -> Result<()> {
        let is_of_one = |line: &[u8]| {
            let root =
                line.split(|byte| *byte == b' ').nth(1).map(<[u8]>::trim_ascii_end).and_then(BubbId::parse);
            root.is_some_and(|root| roots.contains(&root))
        };
        if !roots.is_empty() {
            self.dir.rewrite_lines(TITLES, &mut |line| is_of_one(line).then(Vec::new))?;
        }
        Ok(())
    }

    /// Returns the latest title that a user set for each root, with its time; empty if it was removed.
    pub fn titles_with_times(&self) -> Result<BTreeMap<BubbId, (u64, String)>> {
        let bytes = self.dir.read_file(TITLES)?.unwrap_or_default();
        Ok(latest_titles(&String::from_utf8_lossy(&bytes)))
    }

    /// Returns the latest title that a user set for a root, with its time; empty if it was removed. The lines of other
    /// roots are not parsed.
    pub fn latest_title(&self, root: BubbId) -> Result<Option<(u64, String)>> {
        let bytes = self.dir.read_file(TITLES)?.unwrap_or_default();
        let is_end = |byte: &u8| *byte == b'\n';
        let mut lines = Vec::new();
        for at in memmem::find_iter(&bytes, &root.ascii()) {
            let (before, after) = bytes.split_at(at);
            let begin = before.iter().rposition(is_end).map_or(0, |end| end + 1);
            let end = after.iter().position(is_end).map_or(bytes.len(), |end| at + end + 1);
            lines.extend_from_slice(bytes.get(begin..end).unwrap_or_default());
        }
        Ok(latest_titles(&String::from_utf8_lossy(&lines)).remove(&root))
    }

    /// Returns the title of each root that has one: set by the user, or else from the program it was imported from,
    /// or else from another user's store. Malformed lines are skipped.
    pub fn titles(&self) -> HashMap<BubbId, String> {
        let mut all = HashMap::new();
        for (_, other) in self.peers() {
            all.extend(other.titles());
        }
        all.extend(self.journal().imported_titles());
        all.extend(
            self.titles_with_times().unwrap_or_default().into_iter().map(|(root, (_, title))| (root, title)),
        );
        all.retain(|_, title| !title.is_empty());
        all
    }
}

/// Replaces line ends and other control characters in a title by spaces.
pub fn on_one_line(title: &str) -> String {
    let words = title.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the latest title of each root in the text of the file, with its time; empty if it was removed.
pub fn latest_titles(text: &str) -> BTreeMap<BubbId, (u64, String)> {
    let mut latest: BTreeMap<BubbId, (u64, String)> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(time), Some(root), title) = (words.next(), words.next(), words.next()) else { continue };
        let (Ok(time), Some(root)) = (time.parse(), BubbId::parse(root.as_bytes())) else { continue };
        if latest.get(&root).is_none_or(|(known, _)| *known <= time) {
            latest.insert(root, (time, title.unwrap_or_default().trim().to_string()));
        }
    }
    latest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_title_of_a_root_is_found_without_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = Store::make(dir.path(), std::path::Path::new(crate::store::STORE), "").unwrap();
        let id = |end: char| BubbId::parse(format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}").as_bytes()).unwrap();
        let (a, b, c) = (id('A'), id('B'), id('C'));
        assert_eq!(store.latest_title(a).unwrap(), None);
        // The id of another root is within a title, and the last line has no end.
        let text = format!("2 {a} new\n1 {a} old\n5 {b} about {a} itself\n6 {b} \nx {c} no time\n7 {c} last");
        std::fs::write(store.path().join(TITLES), text).unwrap();
        let all = store.titles_with_times().unwrap();
        for root in [a, b, c, id('D')] {
            assert_eq!(store.latest_title(root).unwrap().as_ref(), all.get(&root), "{root}");
        }
    }

    #[test]
    fn the_latest_line_of_a_root_counts() {
        let id = |end: char| format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}");
        let (a, b, c) = (id('A'), id('B'), id('C'));
        let text = format!(
            "2 {a} the newer one\n1 {a} the older one\n5 {b} taken away\n6 {b} \nx {c} no time\n7 no-id t\n7 {c}\n\n8"
        );
        let found = super::latest_titles(&text);
        let title =
            |id: &str| found.get(&BubbId::parse(id.as_bytes()).unwrap()).map(|(_, title)| title.as_str());
        assert_eq!((title(&a), title(&b), title(&c)), (Some("the newer one"), Some(""), Some("")));
    }
}
