//! News below the conversation, printed before the prompt: answers of other users that `lepo sync` fetched, and messages
//! of the user's own that another terminal or machine wrote.

use std::collections::HashSet;

use lepo_base::error::Result;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{Ix, ReadScope};
use lepo_store::store::Store;

/// Tracks which messages of other users are already printed, or older than the session.
pub struct News {
    /// Older than the session, or printed.
    known: HashSet<BubbId>,
    /// The bubb whose followers were printed although they are older than the session.
    at: Option<BubbId>,
    /// The end of the conversation, and what followed it already.
    end: Option<(BubbId, HashSet<BubbId>)>,
}

impl News {
    /// Starts a session: all present messages are known.
    pub fn new(store: &Store) -> Result<News> {
        let mut known = HashSet::new();
        for (_, other) in store.peers() {
            known.extend(other.recent_names()?.into_iter().map(|name| name.id));
        }
        Ok(News { known, at: None, end: None })
    }

    /// Returns the newest bubb of each line that continues this conv and is new since the last call. If `at` has
    /// changed, lines that follow `at` directly are included, whatever their age.
    pub fn drain(
        &mut self,
        store: &Store,
        conv: &HashSet<BubbId>,
        at: BubbId,
    ) -> Result<Vec<(String, BubbName)>> {
        let is_new_place = self.at.replace(at) != Some(at);
        let beyond = match is_new_place {
            true => store.peer_bubbs_below(&[at].into())?.into_iter().map(|(_, name)| name.id).collect(),
            false => HashSet::new(),
        };
        let below = store.peer_bubbs_below(conv)?;
        let is_news = |name: &BubbName| !self.known.contains(&name.id) || beyond.contains(&name.id);
        let news: Vec<(&str, BubbName)> =
            below.into_iter().filter(|(_, name)| !name.hidden && is_news(name)).collect();
        let followed: HashSet<BubbId> = news.iter().filter_map(|(_, name)| name.prev).collect();
        self.known.extend(news.iter().map(|(_, name)| name.id));
        let last = news.into_iter().filter(|(_, name)| !followed.contains(&name.id));
        Ok(last.map(|(clone, name)| (clone.to_string(), name)).collect())
    }

    /// Returns the newest message of a line of the user's own that came below `at` since the last call; the session's
    /// own question without an answer does not count.
    pub fn elsewhere(
        &mut self,
        store: &Store,
        at: BubbId,
        unanswered: Option<BubbId>,
    ) -> Result<Option<BubbId>> {
        let forest = store.forest_for(&[ReadScope::Since { id: at, judged: false }])?;
        let Some(ix) = forest.find(at) else { return Ok(None) };
        let below: HashSet<BubbId> = forest
            .children(ix)
            .filter(|&ix| forest.store_of(ix).is_none())
            .map(|ix| forest.name(ix).id)
            .collect();
        let Some((_, known)) = self.end.replace((at, below.clone())).filter(|(end, _)| *end == at) else {
            return Ok(None);
        };
        let is_new = |id: &BubbId| !known.contains(id) && Some(*id) != unanswered;
        let new: HashSet<BubbId> = below.into_iter().filter(is_new).collect();
        if new.is_empty() {
            return Ok(None);
        }
        let follows = |ix: Ix| forest.up(ix).any(|above| new.contains(&forest.name(above).id));
        let newest = forest.all().rev().find(|&ix| !forest.name(ix).hidden && follows(ix));
        Ok(newest.map(|ix| forest.name(ix).id))
    }
}
