//! Collects the ancestors of found bubbs from the text cache, so that no folder has to be listed for the position of a
//! bubb in its conversation.

use std::collections::HashSet;

use super::segment_table::DayTable;
use lepo_store::bubb::{BubbId, BubbName};

/// Look up prevs for at most this many matches a month; above that, listing the folders is cheaper.
const MOST: usize = 1000;

/// Collects the names of the ancestors of a month's found bubbs.
#[derive(Default)]
pub(super) struct PrevNames {
    asked: usize,
    seen: HashSet<BubbId>,
    names: Vec<BubbName>,
}

impl PrevNames {
    /// Adds all ancestors of a bubb that are in its day.
    pub fn climb(&mut self, day: &DayTable, name: &BubbName) {
        self.asked += 1;
        if self.asked > MOST {
            return;
        }
        let mut at = name.prev;
        while let Some(name) = at.filter(|&id| self.seen.insert(id)).and_then(|id| day.find(id)) {
            self.names.push(name);
            at = name.prev;
        }
    }

    pub fn names(self) -> Vec<BubbName> {
        self.names
    }
}
