//! Masked texts of the messages with secrets: patterns are matched against these. If they were matched
//! against the originals, searches character by character could spell out a secret.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use lepo_base::error::Result;
use lepo_base::read_ahead::in_order;
use lepo_search::{
    FileResult, Filter, FoundLine, Pattern, SearchOptions, by_month, matching_lines, search_files,
};
use lepo_secrets::Masker;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::Store;
use lepo_tool::mcp::serve::ActiveRequest;

/// Cached facts of each store's messages, by the store's number. Messages are immutable.
#[derive(Default)]
pub struct MaskedTexts(Mutex<HashMap<usize, StoreTexts>>);

#[derive(Default)]
struct StoreTexts {
    read: HashSet<BubbId>,
    /// Masked texts of the messages with secrets.
    masked: HashMap<BubbId, Arc<str>>,
}

/// The messages of a store that contain secrets.
pub struct WithSecrets(HashMap<BubbId, (BubbName, Arc<str>)>);

impl MaskedTexts {
    /// Returns the messages of a store that contain secrets now; reads only new ones.
    pub fn of_store(&self, number: usize, store: &Store, masker: &Masker) -> Result<WithSecrets> {
        let mut names = store.names()?;
        for (_, other) in store.peers() {
            names.extend(other.names()?);
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = all.entry(number).or_default();
        let new: Vec<BubbName> =
            names.iter().filter(|name| !texts.read.contains(&name.id)).copied().collect();
        let mask = |name: BubbName| {
            let bytes = store.read_bubb(&name).ok()?;
            let masked = masker.mask(&String::from_utf8_lossy(&bytes)).text.into_owned();
            Some((name.id, (masked.as_bytes() != bytes).then(|| Arc::from(masked))))
        };
        in_order(new.into_iter(), mask, |masked| {
            // No search finds an unreadable message.
            if let Some((id, masked)) = masked {
                texts.read.insert(id);
                texts.masked.extend(masked.map(|masked| (id, masked)));
            }
            ControlFlow::Continue(())
        });
        let with_secrets =
            names.into_iter().filter_map(|name| Some((name.id, (name, texts.masked.get(&name.id)?.clone()))));
        Ok(WithSecrets(with_secrets.collect()))
    }
}

impl WithSecrets {
    /// Passes to `found` the matches in files of all other messages, newest first, until it breaks or the client
    /// cancels. Unreadable messages are skipped.
    pub fn search_others(
        &self,
        store: &Store,
        (pattern, filter): (&Pattern, &Filter),
        request: &ActiveRequest,
        mut found: impl FnMut(BubbName, Vec<FoundLine>) -> ControlFlow<()>,
    ) -> Result<()> {
        let progress = |done, total| request.progress(done, total);
        let looking = SearchOptions { no_cache: false, is_placed: false, progress: &progress };
        by_month(store, pattern, filter, &looking, |candidates| {
            if request.is_cancelled() {
                return ControlFlow::Break(());
            }
            search_files(store, pattern, candidates.names.into_iter(), |outcome| {
                let flow = match outcome {
                    FileResult::Found(name, lines) if !self.0.contains_key(&name.id) => found(name, lines),
                    _ => ControlFlow::Continue(()),
                };
                if request.is_cancelled() { ControlFlow::Break(()) } else { flow }
            })
        })
    }

    /// Returns the masked texts that match, newest first.
    pub fn matching(&self, pattern: &Pattern, filter: &Filter) -> Vec<(BubbName, Vec<FoundLine>)> {
        let taken = self.0.values().filter(|(name, _)| filter.matches(name));
        let mut found: Vec<_> = taken
            .filter_map(|(name, text)| Some((*name, matching_lines(pattern, text.as_bytes())?)))
            .collect();
        found.sort_by_key(|(name, _)| std::cmp::Reverse(name.id));
        found
    }
}
