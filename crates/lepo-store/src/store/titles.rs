//! `_titles`: names that people gave to conversations, one line each: `MILLISECONDS ROOT-ID TITLE`.
//!
//! Lines are only appended, so that two copies of a store merge by union; the latest for a root counts.

use std::collections::HashMap;

use super::dir::now;
use super::handle::Store;
use crate::bubb::BubbId;
use lepo_base::error::Result;

const TITLES: &str = "_titles";

/// The titles of conversations.
#[derive(Clone, Copy)]
pub struct Titles<'s> {
    pub(super) store: &'s Store,
}

impl Store {
    /// The titles that people gave to conversations, or other tools.
    pub fn titles(&self) -> Titles<'_> {
        Titles { store: self }
    }
}

impl<'s> Titles<'s> {
    /// Gives the conversations that begin at `root` a title; an empty one takes it away.
    pub fn set(&self, root: BubbId, title: &str) -> Result<()> {
        let title: Vec<&str> = title.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        let title = title.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        self.store.dir.append_durably(TITLES, format!("{} {root} {title}\n", now()).as_bytes())
    }

    /// The title of each root that has one: a person's, else that of the tool it was imported from. What is
    /// no such line is skipped.
    pub fn all(&self) -> HashMap<BubbId, String> {
        let bytes = self.store.dir.read_file(TITLES).ok().flatten().unwrap_or_default();
        let mut all = self.store.journal().imported_titles();
        all.extend(latest(&String::from_utf8_lossy(&bytes)));
        all.retain(|_, title| !title.is_empty());
        all
    }
}

/// The latest title of each root; an empty one where it was taken away.
fn latest(text: &str) -> HashMap<BubbId, String> {
    let mut latest: HashMap<BubbId, (u64, String)> = HashMap::new();
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(time), Some(root), title) = (words.next(), words.next(), words.next()) else { continue };
        let (Ok(time), Some(root)) = (time.parse(), BubbId::parse(root.as_bytes())) else { continue };
        if latest.get(&root).is_none_or(|(known, _)| *known <= time) {
            latest.insert(root, (time, title.unwrap_or_default().trim().to_string()));
        }
    }
    latest.into_iter().map(|(root, (_, title))| (root, title)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_line_of_a_root_counts() {
        let id = |end: char| format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}");
        let (a, b, c) = (id('A'), id('B'), id('C'));
        let text = format!(
            "2 {a} the newer one\n1 {a} the older one\n5 {b} taken away\n6 {b} \nx {c} no time\n7 no-id t\n7 {c}\n\n8"
        );
        let found = super::latest(&text);
        let title = |id: &str| found.get(&BubbId::parse(id.as_bytes()).unwrap()).map(String::as_str);
        assert_eq!((title(&a), title(&b), title(&c)), (Some("the newer one"), Some(""), Some("")));
    }
}
