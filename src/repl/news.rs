//! Answers of other people below the conversation, told before the prompt as `lepo sync` brings them.

use std::collections::HashSet;

use lepo_base::error::Result;
use lepo_store::bubb::{BubbId, Name};
use lepo_store::store::Store;

/// Messages of other people that were told already, or were there before the session.
pub struct News {
    /// There when the session began, or told.
    known: HashSet<BubbId>,
    /// The bubb whose followers were told although they were there already.
    at: Option<BubbId>,
}

impl News {
    /// At the beginning of a session all that is there is known.
    pub fn begin(store: &Store) -> Result<News> {
        let mut known = HashSet::new();
        for (_, other) in store.others().all() {
            known.extend(other.names().recent()?.into_iter().map(|name| name.id));
        }
        Ok(News { known, at: None })
    }

    /// The newest bubb of each line that goes on below this conv, of what came since the last call; and of
    /// what directly goes on from its last bubb `at`, whenever that came.
    pub fn take(&mut self, store: &Store, conv: &HashSet<BubbId>, at: BubbId) -> Result<Vec<(String, Name)>> {
        let is_new_place = self.at.replace(at) != Some(at);
        let beyond = match is_new_place {
            true => store.others().below(&[at].into())?.into_iter().map(|(_, name)| name.id).collect(),
            false => HashSet::new(),
        };
        let below = store.others().below(conv)?;
        let is_news = |name: &Name| !self.known.contains(&name.id) || beyond.contains(&name.id);
        let news: Vec<(&str, Name)> =
            below.into_iter().filter(|(_, name)| !name.hidden && is_news(name)).collect();
        let followed: HashSet<BubbId> = news.iter().filter_map(|(_, name)| name.prev).collect();
        self.known.extend(news.iter().map(|(_, name)| name.id));
        let last = news.into_iter().filter(|(_, name)| !followed.contains(&name.id));
        Ok(last.map(|(clone, name)| (clone.to_string(), name)).collect())
    }
}
