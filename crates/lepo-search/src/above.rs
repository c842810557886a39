//! The bubbs that found ones follow, told by the text cache: no folder has to be listed for the place of a bubb in
//! its conversation.

use std::collections::HashSet;

use super::segment_table::Table;
use lepo_store::bubb::{BubbId, Name};

/// Of so many bubbs at most of a month it is told what they follow. Where more are found, listing the folders
/// costs less than that.
const MOST: usize = 1000;

/// Collects the names that found bubbs of one month follow.
#[derive(Default)]
pub(super) struct Above {
    asked: usize,
    seen: HashSet<BubbId>,
    names: Vec<Name>,
}

impl Above {
    /// Adds all that a bubb follows, as far as its day tells it.
    pub fn climb(&mut self, day: &Table, name: &Name) {
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

    /// The names.
    pub fn names(self) -> Vec<Name> {
        self.names
    }
}
