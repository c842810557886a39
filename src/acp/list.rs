//! The sessions of a store, listed by page like the conversations of `lepo ls`.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use super::session_start::SessionTails;
use crate::term::excerpt_within;
use crate::view::{Overview, Overviews};
use lepo_acp::agent::{self, SessionInfo};
use lepo_base::error::{Error, Result};
use lepo_base::time;
use lepo_store::bubb::BubbId;
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{SessionEnd, Store};

const PAGE: usize = 50;

/// The width of a title, in columns.
const TITLE: usize = 80;

/// Returns a page of a folder's sessions, newest first, starting at a cursor.
pub fn list(store: &Store, cwd: &Path, cursor: Option<&str>) -> Result<Value> {
    let lines = SessionTails::read(store)?;
    let mut all = entries(store, &lines)?;
    // Newest first; sessions that end at the same bubb are ordered by id.
    all.sort_by(|one, other| other.cmp(one));
    let key = |(ix, id): &(Ix, String)| format!("{} {id}", lines.forest.name(*ix).id);
    let is_key = |cursor: &str| {
        cursor
            .split_once(' ')
            .is_some_and(|(end, id)| BubbId::parse(end.as_bytes()).is_some() && !id.is_empty())
    };
    if let Some(cursor) = cursor.filter(|cursor| !is_key(cursor)) {
        return Err(Error::usage(format!("cursor {cursor:?} is not from session/list")));
    }
    let rest: Vec<(Ix, String)> = all
        .into_iter()
        .skip_while(|entry| cursor.is_some_and(|cursor| key(entry).as_str() >= cursor))
        .collect();
    let (page, after) = rest.split_at(rest.len().min(PAGE));
    let next = page.last().filter(|_| !after.is_empty()).map(key);
    let overviews = Overviews::new(store, &lines.forest);
    let info = |(ix, id): &(Ix, String)| SessionInfo {
        id: id.clone(),
        cwd: cwd.to_string_lossy().into_owned(),
        title: title(store, &overviews.overview(*ix)),
        updated: Some(time::iso_utc(lines.forest.name(*ix).id.time())),
    };
    Ok(agent::list(&page.iter().map(info).collect::<Vec<_>>(), next))
}

/// Returns the sessions, each with the bubb at which it ends.
fn entries(store: &Store, lines: &SessionTails) -> Result<Vec<(Ix, String)>> {
    let (mut all, mut known) = (Vec::new(), HashSet::new());
    for (id, end) in &lines.sessions {
        let ix = match end {
            SessionEnd::Empty => None,
            SessionEnd::Fork(at) => lines.forest.find(*at),
            SessionEnd::Written(end) => lines.forest.find(*end).map(|end| lines.tail_of(end)),
        };
        if let Some(ix) = ix {
            known.insert(ix);
            all.push((ix, id.clone()));
        }
    }
    let branches = store.branches_by_bubb()?;
    for &tail in lines.tails.iter().filter(|tail| !known.contains(tail)) {
        let id = lines.forest.name(tail).id;
        let branch = branches.get(&id).and_then(|names| names.iter().min());
        all.push((tail, branch.cloned().unwrap_or_else(|| id.to_string())));
    }
    Ok(all)
}

pub fn session_title(store: &Store, forest: &Forest, tail: Ix) -> Option<String> {
    title(store, &Overviews::new(store, forest).overview(tail))
}

/// Returns the title of a session: the conversation's, else its first question.
fn title(store: &Store, overview: &Overview<'_>) -> Option<String> {
    let title = match overview.title() {
        Some(title) => title.to_string(),
        None => store.excerpt_text(&overview.first?).ok()?,
    };
    Some(excerpt_within(&title, TITLE)).filter(|title| !title.is_empty())
}
