//! Searches past days by their text cache, month by month.
//!
//! A day counts as cached only while its folder is in the recorded state. The segment's text selects the bubbs with a
//! match, then their files are searched again. The files of all other days are read, each once, and become part of the
//! month's next segment.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use lepo_base::error::{Error, Result};
use lepo_store::bubb::{BubbId, BubbName, Day as DayOf};
use lepo_store::store::{FolderState, MonthCacheWriter, MonthFolder, Store};

use super::literals::RequiredTrigrams;
use super::segment::{LARGEST, SegmentDay, SegmentWriter};
use super::segment_reader::{SegmentBlock, SegmentReader};
use super::segment_table::DayTable;
use super::{Filter, Pattern};

/// Look up prevs for at most this many matches a month; above that, listing the folders is cheaper.
const MOST_CLIMBED: usize = 1000;

thread_local! {
    /// A thread reads one segment after another.
    static READER: RefCell<SegmentReader> = RefCell::default();
}

/// The bubbs of a month that a search has to read, and names for their positions.
#[derive(Default)]
pub struct Candidates {
    /// The bubbs whose files have to be searched, newest first.
    pub names: Vec<BubbName>,
    /// Their ancestors in the cache, unsorted.
    pub above: Vec<BubbName>,
    /// An error for each folder that could not be read.
    pub unreadable: Vec<Error>,
}

/// Returns the bubbs of a month's days whose files a search has to read, newest first, and with `is_placed` their
/// ancestors. `done` is called after each day and may end the search.
pub fn candidates(
    store: &Store,
    pattern: &Pattern,
    filter: &Filter,
    (month, days): (&str, &[DayOf]),
    is_placed: bool,
    done: &(dyn Fn() -> ControlFlow<()> + Sync),
) -> Candidates {
    let (mut names, mut cached, mut flow) = (Vec::new(), Vec::new(), ControlFlow::Continue(()));
    let mut above = PrevNames::default();
    let is_wanted = |day: &DayOf| days.contains(day);
    let right = each_cached(store, month, pattern.needed(), is_wanted, |day, block| {
        let before = names.len();
        matching(block, pattern, filter, &mut names);
        if is_placed
            && names.len() > before
            && let Some(table) = block.table()
        {
            names.iter().skip(before).for_each(|name| above.climb(table, name));
        }
        if block.is_last {
            cached.push(day);
            flow = done();
        }
        flow
    });
    let mut above = above.names;
    if right.is_none() {
        (names, cached, above) = (Vec::new(), Vec::new(), Vec::new());
    }
    let mut unreadable = Vec::new();
    let mut builder = Builder { store, begun: None, fresh: BTreeMap::new(), bytes: 0 };
    for day in days.iter().filter(|day| !cached.contains(day)) {
        if flow.is_break() {
            return Candidates { names, above, unreadable };
        }
        // An unreadable day is not cached, and the search continues.
        unreadable.extend(builder.read(*day, pattern, filter, &mut names).err());
        flow = done();
    }
    // A failed write only means that there will be no cache.
    let _ = builder.finish(month);
    names.sort_unstable_by_key(|name| std::cmp::Reverse(name.id));
    names.dedup();
    Candidates { names, above, unreadable }
}

/// Collects the names of the ancestors of a month's found bubbs, so that no folder has to be listed for the position of a
/// bubb in its conversation.
#[derive(Default)]
struct PrevNames {
    asked: usize,
    seen: HashSet<BubbId>,
    names: Vec<BubbName>,
}

impl PrevNames {
    /// Adds all ancestors of a bubb that are in its day.
    fn climb(&mut self, day: &DayTable, name: &BubbName) {
        self.asked += 1;
        if self.asked > MOST_CLIMBED {
            return;
        }
        let mut at = name.prev;
        while let Some(name) = at.filter(|&id| self.seen.insert(id)).and_then(|id| day.find(id)) {
            self.names.push(name);
            at = name.prev;
        }
    }
}

/// Passes to `each` the blocks of a month's segment, for those days that `is_wanted` accepts and whose folders are in
/// the recorded state. Texts that cannot contain `needed` are omitted. If the result is `None`, the segment is corrupt
/// or `each` ended the search, and the blocks passed so far are unreliable.
fn each_cached(
    store: &Store,
    month: &str,
    needed: Option<&RequiredTrigrams>,
    is_wanted: impl Fn(&DayOf) -> bool,
    mut each: impl FnMut(DayOf, &SegmentBlock<'_>) -> ControlFlow<()>,
) -> Option<()> {
    let (file, len) = store.open_month_cache(month)?;
    let folder = store.month_folder(month)?;
    let wanted = |recorded: &SegmentDay| unchanged(&folder, month, recorded).filter(&is_wanted);
    READER.with_borrow_mut(|reader| reader.read(&file, len, needed, wanted, |day, block| each(*day, block)))
}

/// Returns the day that a segment recorded, if its folder is still in the recorded state.
fn unchanged(folder: &MonthFolder, month: &str, recorded: &SegmentDay) -> Option<DayOf> {
    let day = DayOf::parse(month.as_bytes(), format!("{:02}", recorded.day).as_bytes())?;
    let state = folder.state(day)?;
    recorded
        .is_unchanged(&SegmentDay::new(recorded.day, state.inode, state.ctime, state.mtime))
        .then_some(day)
}

/// Adds the bubbs of a block whose text matches.
fn matching(block: &SegmentBlock<'_>, pattern: &Pattern, filter: &Filter, names: &mut Vec<BubbName>) {
    if !pattern.is_by_line() {
        let bubbs = block.bubbs().filter(|(name, text)| filter.matches(name) && pattern.has_line(text));
        return names.extend(bubbs.map(|(name, _)| name));
    }
    let (mut at, mut from) = (0, 0);
    while let Some(rest) = block.texts.get(at..).filter(|rest| !rest.is_empty()) {
        let Some((offset, is_sure)) = pattern.first_candidate(rest) else { return };
        if offset >= rest.len() {
            return;
        }
        let Some(table) = block.table() else { return };
        let index = table.index_at(from..table.count(), block.begin + at + offset);
        let span = table.span(index..index + 1);
        let end = span.end.saturating_sub(block.begin);
        let text = block.texts.get(span.start.saturating_sub(block.begin)..end.saturating_sub(1));
        let name = table.name(index).filter(|name| filter.matches(name));
        names.extend(name.filter(|_| is_sure || text.is_some_and(|text| pattern.has_line(text))));
        (at, from) = (end, index);
    }
}

/// The bubbs of a day with the contents of their files.
type Texts = Vec<(BubbName, Vec<u8>)>;

/// Builds a month's segment from the days whose files a search had to read.
struct Builder<'s> {
    store: &'s Store,
    /// Started before the first file is read; `None` inside if no cache can be written.
    begun: Option<Option<MonthCacheWriter<'s>>>,
    /// The days that can be recorded.
    fresh: BTreeMap<DayOf, (FolderState, Texts)>,
    /// The bytes that these days add to a segment.
    bytes: usize,
}

impl Builder<'_> {
    /// Reads the files of a day, each once: adds the matches to `found`, and collects all texts for the segment.
    fn read(
        &mut self,
        day: DayOf,
        pattern: &Pattern,
        filter: &Filter,
        found: &mut Vec<BubbName>,
    ) -> Result<()> {
        let store = self.store;
        let begun = self.begun.get_or_insert_with(|| store.create_month_cache().ok());
        let state = store.folder_state(day);
        let state = state.filter(|state| begun.as_ref().is_some_and(|begun| begun.may_record(state)));
        let names = store.names_of_day(day)?;
        let mut texts = Vec::with_capacity(names.len());
        let is_kept = state.is_some() && self.bytes <= LARGEST;
        for name in &names {
            let is_taken = filter.matches(name);
            if !is_taken && !is_kept {
                continue;
            }
            match store.read_bubb(name) {
                Ok(text) => {
                    found.extend((is_taken && pattern.may_match(&text)).then_some(*name));
                    if is_kept {
                        self.bytes += SegmentWriter::len_of(text.len());
                        texts.push((*name, text));
                    }
                }
                // The search itself reports an unreadable file; its day is not cached.
                Err(_) => found.extend(is_taken.then_some(*name)),
            }
        }
        if let Some(state) = state
            .filter(|state| is_kept && texts.len() == names.len() && store.folder_state(day) == Some(*state))
        {
            self.fresh.insert(day, (state, texts));
        }
        Ok(())
    }

    /// Writes the segment: the days just read, and the other days of the old segment.
    fn finish(mut self, month: &str) -> std::io::Result<()> {
        let Some(begun) = self.begun.take().flatten().filter(|_| !self.fresh.is_empty()) else {
            return Ok(());
        };
        let mut old: BTreeMap<DayOf, (FolderState, Texts)> = BTreeMap::new();
        let right = each_cached(
            self.store,
            month,
            None,
            |_| true,
            |day, block| {
                let SegmentDay { inode, ctime, mtime, .. } = *block.day;
                let (_, texts) = old.entry(day).or_insert((FolderState { inode, ctime, mtime }, Vec::new()));
                texts.extend(block.bubbs().map(|(name, text)| (name, text.to_vec())));
                ControlFlow::Continue(())
            },
        );
        let mut days = right.map_or_else(BTreeMap::new, |()| old);
        days.append(&mut self.fresh);
        let mut writer = SegmentWriter::default();
        for (day, (state, texts)) in days {
            let Ok(index) = day.day().parse() else { continue };
            let recorded = SegmentDay::new(index, state.inode, state.ctime, state.mtime);
            writer.day(recorded, texts.iter().map(|(name, text)| (*name, text.as_slice())));
            if writer.len() > LARGEST {
                return Ok(());
            }
        }
        begun.finish(month, &writer.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PatternOptions;
    use lepo_base::role::Role;

    #[test]
    fn a_blocks_candidates_are_the_texts_that_match() {
        let texts = ["", "\n", "one\ntwo", "two\n", "three", "one two three\n\nfour", "넷", "\nfive"];
        let mut last = None;
        let mut name = |index: usize| {
            let id = BubbId::new(index as u64 * 1000, Role::User, false, last, &[index as u8; 32].into());
            let name = BubbName { id, role: Role::User, hidden: false, prev: last };
            last = Some(id);
            name
        };
        let names: Vec<BubbName> = (0..texts.len()).map(&mut name).collect();
        let filter = Filter::visible();
        let plain = PatternOptions::default();
        for (pattern, options) in [
            ("two", plain),
            ("two$", plain),
            ("^two", plain),
            ("^$", plain),
            ("x*", plain),
            (r"[a-z]+ two [a-z]+", plain),
            (r"\w+ee", plain),
            (r"\Atwo", plain),
            ("넷", plain),
            ("TWO", PatternOptions { ignore_case: true, ..plain }),
            ("two", PatternOptions { invert: true, ..plain }),
            ("e\ntwo", PatternOptions { multi_line: true, ..plain }),
            ("hree", PatternOptions { whole_words: true, ..plain }),
        ] {
            let pattern = Pattern::new(pattern, options).unwrap();
            for block in [usize::MAX, 1, 5, 12] {
                let mut writer = SegmentWriter::of_blocks(block);
                writer.day(SegmentDay::new(1, 2, 3, 4), names.iter().copied().zip(texts.map(str::as_bytes)));
                let bytes = writer.finish();
                let mut found = Vec::new();
                let (source, len) = (&bytes.as_slice(), bytes.len() as u64);
                let (needed, wanted) = (pattern.needed(), |_: &SegmentDay| Some(()));
                let right = SegmentReader::default().read(source, len, needed, wanted, |(), block| {
                    matching(block, &pattern, &filter, &mut found);
                    ControlFlow::Continue(())
                });
                right.unwrap();
                found.dedup();
                let expected = names.iter().zip(texts).filter(|(_, text)| pattern.has_line(text.as_bytes()));
                for (name, _) in expected {
                    assert!(found.contains(name), "{name} by {block}");
                }
                // The only false positive is an empty line that is just the newline after a text.
                let excess = found.iter().filter(|name| {
                    let at = names.iter().position(|known| known == *name).unwrap();
                    !pattern.has_line(texts[at].as_bytes())
                        && !pattern.has_line(format!("{}\n", texts[at]).as_bytes())
                });
                assert_eq!(excess.count(), 0);
            }
        }
    }
}
