//! Reads the directory once: names are the index, so this alone yields the forest.

use super::dir::now;
use super::handle::Store;
use crate::bubb::{BubbId, BubbName};
use crate::conv::Forest;
use lepo_base::error::Result;

/// Number of newest names parsed when only the newest tail is needed.
const NEWEST: usize = 1024;

/// The newest bubbs of `.lepo/`.
pub(super) struct NewestNames {
    pub(super) forest: Forest,
    /// Whether these are all bubbs of `.lepo/`.
    pub(super) is_all: bool,
    /// Whether every bubb of `.lepo/` is newer than its prev.
    pub(super) is_ordered: bool,
}

#[doc(hidden)]
impl Store {
    /// Returns the names of all bubbs, oldest first.
    pub fn names(&self) -> Result<Vec<BubbName>> {
        let forest = self.forest()?;
        Ok(forest.all().map(|ix| forest.name(ix)).collect())
    }

    /// Reads the newest bubbs of `.lepo/`. Bubbs are newer than their prev, so the newest thousand nearly always
    /// determine the newest tail and the least time of a new root. Other names are not parsed.
    pub(super) fn newest_names(&self) -> Result<NewestNames> {
        let (mut names, mut is_all, mut is_ordered) = (Vec::<BubbName>::new(), true, true);
        let mut least = [0; BubbId::LEN];
        let (mut oldest, mut seen) = ([u8::MAX; BubbId::LEN], 0);
        self.dir
            .each_entry_of(".", |file, kind| {
                // Written ids sort like ids, except in lower case, which only makes them seem newer.
                is_ordered &= !BubbName::may_precede_its_prev(file);
                let Some(id) = file.first_chunk::<{ BubbId::LEN }>().filter(|id| id[0] <= b'7') else {
                    return;
                };
                (oldest, seen) = (oldest.min(*id), seen + 1);
                if *id < least {
                    return;
                }
                names.extend(self.bubb_name(file, kind));
                if names.len() == 2 * NEWEST {
                    let (_, middle, _) = names.select_nth_unstable_by(NEWEST, |a, b| b.id.cmp(&a.id));
                    let kept_from = middle.id;
                    names.retain(|name| name.id >= kept_from);
                    (least, is_all) = (kept_from.ascii(), false);
                }
            })
            .map_err(|error| self.dir.error("cannot read", "", error))?;
        let oldest = BubbId::parse(&oldest).map_or(0, BubbId::time);
        self.last_reading.note_recent(oldest, seen);
        Ok(NewestNames { forest: Forest::new(names).seen_at(now()), is_all, is_ordered })
    }
}
