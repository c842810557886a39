//! The bubbs that found ones follow, told by a segment's tables: no folder has to be listed for the place of a
//! bubb in its conversation.

use std::collections::HashSet;
use std::ops::Range;

use super::segment::Tables;
use crate::bubb::{BubbId, Name};

/// Of so many bubbs at most of a month it is told what they follow. Where more are found, listing the folders
/// costs less than that.
const MOST: usize = 1000;

/// Collects the names that found bubbs of one segment follow.
#[derive(Default)]
pub(super) struct Above {
    /// The numbers of the bubbs whose days are known to be as they were recorded.
    right: Vec<Range<usize>>,
    asked: usize,
    seen: HashSet<BubbId>,
    names: Vec<Name>,
}

impl Above {
    /// Notes that a day is as it was recorded: its bubbs have these numbers.
    pub fn day(&mut self, numbers: Range<usize>) {
        self.right.push(numbers);
    }

    /// Adds all that a bubb follows, as far as days that are right tell it.
    pub fn climb(&mut self, tables: &Tables, name: &Name) {
        self.asked += 1;
        if self.asked > MOST {
            return;
        }
        let mut at = name.prev;
        while let Some(id) = at.filter(|&id| self.seen.insert(id)) {
            let number = tables.find(id).filter(|number| self.right.iter().any(|day| day.contains(number)));
            let Some(name) = number.and_then(|number| tables.name(number)) else { return };
            self.names.push(name);
            at = name.prev;
        }
    }

    /// The names.
    pub fn names(self) -> Vec<Name> {
        self.names
    }
}
