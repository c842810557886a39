//! Searching days that are over by their text cache, month by month.
//!
//! A day counts as cached only while its folder is in the state that was recorded. Its bubbs with a match are
//! then looked for in the segment's text, and searched again in their files. All other days are read from their
//! files, and what is read makes the month's next segment.

use crate::bubb::{Day as DayOf, Name};
use crate::error::Result;
use crate::store::Store;

use super::segment::{Day, Segment, SegmentWriter};
use super::{Filter, Pattern};

/// Text of one month that is kept at most, in bytes.
const LARGEST: usize = 512 << 20;

/// The bubbs of a month's days in whose files a search has to look, newest first.
pub fn candidates(
    store: &Store,
    pattern: &Pattern,
    filter: &Filter,
    month: &str,
    days: &[DayOf],
) -> Result<Vec<Name>> {
    let segment = store.cached_text(month).and_then(Segment::parse);
    let mut found = Vec::new();
    let mut is_stale = segment.is_none();
    for day in days {
        match cached_day(store, segment.as_ref(), *day) {
            Some((segment, recorded)) => matching(segment, &recorded, pattern, filter, &mut found),
            None => {
                is_stale = true;
                found.extend(store.bubbs_of_day(*day)?.into_iter().filter(|name| filter.takes(name)));
            }
        }
    }
    if is_stale {
        // A cache that cannot be written is none.
        let _ = rebuild(store, segment.as_ref(), month, days);
    }
    found.sort_unstable_by_key(|name| std::cmp::Reverse(name.id));
    found.dedup();
    Ok(found)
}

/// What a segment has of a day, if the day's folder is in the state that was recorded.
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

/// Makes a month's segment anew: of days in the state that was recorded from the old one, of others from files.
fn rebuild(store: &Store, old: Option<&Segment>, month: &str, days: &[DayOf]) -> std::io::Result<()> {
    let begun = store.begin_cached_text()?;
    let mut writer = SegmentWriter::default();
    let mut days = days.to_vec();
    days.sort_unstable();
    for day in days {
        if let Some((segment, recorded)) = cached_day(store, old, day) {
            let bubbs = segment.numbers_of(&recorded);
            let bubbs = bubbs.filter_map(|number| Some((segment.name(number)?, segment.text(number)?)));
            writer.day(Day::new(recorded.day, recorded.inode, recorded.ctime, recorded.mtime), bubbs);
            continue;
        }
        let Some(state) = store.folder_state(day).filter(|state| begun.may_record(state)) else { continue };
        let Ok(names) = store.bubbs_of_day(day) else { continue };
        let mut texts = Vec::with_capacity(names.len());
        for name in names {
            match store.read(&name) {
                Ok(text) => texts.push((name, text)),
                // A file that cannot be read is told by the search itself; its day is not cached.
                Err(_) => break,
            }
        }
        let whole = store.bubbs_of_day(day).is_ok_and(|names| names.len() == texts.len());
        let Ok(number) = day.day().parse() else { continue };
        if whole && store.folder_state(day) == Some(state) {
            let recorded = Day::new(number, state.inode, state.ctime, state.mtime);
            writer.day(recorded, texts.iter().map(|(name, text)| (*name, text.as_slice())));
        }
        if writer.len() > LARGEST {
            return Ok(());
        }
    }
    if writer.is_empty() {
        return Ok(());
    }
    begun.finish(month, &writer.finish())
}
