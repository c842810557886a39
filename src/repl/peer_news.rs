//! Answers of other users below the conversation, printed before the prompt after `lepo sync` fetches them.

use std::collections::HashSet;

use lepo_base::error::Result;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::Store;

/// Tracks which messages of other users are already printed, or older than the session.
pub struct News {
    /// Older than the session, or printed.
    known: HashSet<BubbId>,
    /// The bubb whose followers were printed although they are older than the session.
    at: Option<BubbId>,
}

impl News {
    /// Starts a session: all present messages are known.
    pub fn new(store: &Store) -> Result<News> {
        let mut known = HashSet::new();
        for (_, other) in store.others().all() {
            known.extend(other.names().recent()?.into_iter().map(|name| name.id));
        }
        Ok(News { known, at: None })
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
            true => store.others().below(&[at].into())?.into_iter().map(|(_, name)| name.id).collect(),
            false => HashSet::new(),
        };
        let below = store.others().below(conv)?;
        let is_news = |name: &BubbName| !self.known.contains(&name.id) || beyond.contains(&name.id);
        let news: Vec<(&str, BubbName)> =
            below.into_iter().filter(|(_, name)| !name.hidden && is_news(name)).collect();
        let followed: HashSet<BubbId> = news.iter().filter_map(|(_, name)| name.prev).collect();
        self.known.extend(news.iter().map(|(_, name)| name.id));
        let last = news.into_iter().filter(|(_, name)| !followed.contains(&name.id));
        Ok(last.map(|(clone, name)| (clone.to_string(), name)).collect())
    }
}
