//! Searching days that are over by their text cache, month by month.
//!
//! A day counts as cached only while its folder is in the state that was recorded. Its bubbs with a match are
//! then looked for in the segment's text, and searched again in their files. All other days are read from their
//! files, each once, and what is read makes the month's next segment.

use std::collections::BTreeMap;

use crate::bubb::{Day as DayOf, Name};
use crate::error::Result;
use crate::store::{CachedText, FolderState, Store};

use super::segment::{Day, Segment, SegmentWriter};
use super::{Filter, Pattern};

/// Text of one month that is kept at most, in bytes.
const LARGEST: usize = 512 << 20;

/// The bubbs of a month's days in whose files a search has to look, newest first. `done` is told of each day.
pub fn candidates(
    store: &Store,
    pattern: &Pattern,
    filter: &Filter,
    month: &str,
    days: &[DayOf],
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Name>> {
    let segment = store.cached_text(month).and_then(Segment::parse);
    let mut found = Vec::new();
    let mut builder = Builder { store, begun: None, fresh: BTreeMap::new(), bytes: 0 };
    for day in days {
        match cached_day(store, segment.as_ref(), *day) {
            Some((segment, recorded)) => matching(segment, &recorded, pattern, filter, &mut found),
            None => builder.read(*day, pattern, filter, &mut found)?,
        }
        done();
    }
    // A cache that cannot be written is none.
    let _ = builder.finish(segment.as_ref(), month, days);
    found.sort_unstable_by_key(|name| std::cmp::Reverse(name.id));
    found.dedup();
    Ok(found)
}

/// A segment's entry of a day, if the day's folder is in the state that was recorded.
fn cached_day<'s>(store: &Store, segment: Option<&'s Segment>, day: DayOf) -> Option<(&'s Segment, Day)> {
    let segment = segment?;
    let number: u8 = day.day().parse().ok()?;
    let recorded = segment.days().iter().find(|recorded| recorded.day == number)?;
    let state = store.folder_state(day)?;
    let now = Day::new(number, state.inode, state.ctime, state.mtime);
    recorded.is_unchanged(&now).then_some((segment, *recorded))
}

/// Adds the bubbs of a cached day whose text matches.
fn matching(segment: &Segment, day: &Day, pattern: &Pattern, filter: &Filter, found: &mut Vec<Name>) {
    let numbers = segment.numbers_of(day);
    if !pattern.is_by_line() {
        let texts = numbers.filter_map(|number| Some((segment.name(number)?, segment.text(number)?)));
        let matching = texts.filter(|(name, text)| filter.takes(name) && pattern.may_match(text));
        return found.extend(matching.map(|(name, _)| name));
    }
    let span = segment.span(numbers);
    let Some(texts) = segment.texts().get(span.clone()) else { return };
    let mut at = 0;
    while let Some(rest) = texts.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(end) = pattern.first_match_end(rest) else { return };
        // An empty match at the end of a text belongs to the text before it.
        let number = segment.number_at(span.start + at + end.saturating_sub(1));
        found.extend(segment.name(number).filter(|name| filter.takes(name)));
        let after = segment.span(number..number + 1).end.saturating_sub(span.start);
        at = after.max(at + 1);
    }
}

/// The bubbs of a day with what their files hold.
type Texts = Vec<(Name, Vec<u8>)>;

/// Makes a month's segment anew, of the days that a search had to read from files.
struct Builder<'s> {
    store: &'s Store,
    /// Begun before the first file was read; `None` inside where no cache can be written.
    begun: Option<Option<CachedText<'s>>>,
    /// The days that were read and can be recorded.
    fresh: BTreeMap<DayOf, (FolderState, Texts)>,
    bytes: usize,
}

impl Builder<'_> {
    /// Reads a day from its files, each once: those that match are found, and all are kept for the segment.
    fn read(&mut self, day: DayOf, pattern: &Pattern, filter: &Filter, found: &mut Vec<Name>) -> Result<()> {
        let store = self.store;
        let begun = self.begun.get_or_insert_with(|| store.begin_cached_text().ok());
        let state = store.folder_state(day);
        let state = state.filter(|state| begun.as_ref().is_some_and(|begun| begun.may_record(state)));
        let names = store.bubbs_of_day(day)?;
        let mut texts = Vec::with_capacity(names.len());
        let is_kept = state.is_some() && self.bytes <= LARGEST;
        for name in &names {
            let is_taken = filter.takes(name);
            if !is_taken && !is_kept {
                continue;
            }
            match store.read(name) {
                Ok(text) => {
                    found.extend((is_taken && pattern.may_match(&text)).then_some(*name));
                    if is_kept {
                        self.bytes += text.len();
                        texts.push((*name, text));
                    }
                }
                // A file that cannot be read is told by the search itself; its day is not cached.
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

    /// Writes the segment: what was read, and of the other days what the old one has.
    fn finish(self, old: Option<&Segment>, month: &str, days: &[DayOf]) -> std::io::Result<()> {
        let Some(begun) = self.begun.flatten().filter(|_| !self.fresh.is_empty()) else { return Ok(()) };
        let mut writer = SegmentWriter::default();
        let mut days = days.to_vec();
        days.sort_unstable();
        for day in days {
            if let Some((state, texts)) = self.fresh.get(&day) {
                let Ok(number) = day.day().parse() else { continue };
                let recorded = Day::new(number, state.inode, state.ctime, state.mtime);
                writer.day(recorded, texts.iter().map(|(name, text)| (*name, text.as_slice())));
            } else if let Some((segment, recorded)) = cached_day(self.store, old, day) {
                let bubbs = segment.numbers_of(&recorded);
                let bubbs = bubbs.filter_map(|number| Some((segment.name(number)?, segment.text(number)?)));
                writer.day(Day::new(recorded.day, recorded.inode, recorded.ctime, recorded.mtime), bubbs);
            }
            if writer.text_bytes() > LARGEST {
                return Ok(());
            }
        }
        begun.finish(month, &writer.finish())
    }
}
