//! Resources and prompts of MCP servers, for completion. The turn's own thread asks a server when completion
//! first needs it, while the prompt waits a moment.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use lepo_tool::mcp::{Server, Servers};

/// How long completion waits for a server to start.
const WAIT: Duration = Duration::from_secs(3);

/// The offers of servers, each as soon as its server was asked.
#[derive(Debug, Default)]
pub struct OfferCatalog {
    names: Vec<String>,
    known: Mutex<HashMap<String, Vec<OfferEntry>>>,
    /// Wakes completion after a change of `known` or `skipped`.
    changed: Condvar,
    /// Servers to ask, because completion needs them.
    requested: Mutex<Vec<String>>,
    /// Servers that need consent before they start: completion does not wait for them.
    skipped: Mutex<Vec<String>>,
    /// Wakes the turn's thread after a change of `requested`.
    notice: Notify,
}

/// An offer of a server, as the user types it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferEntry {
    /// `@SERVER:URI` or `/SERVER:PROMPT`.
    pub word: String,
    /// The server's description.
    pub about: String,
}

impl OfferCatalog {
    /// Creates the catalogue of these servers, without asking them.
    pub fn new(servers: &Servers) -> OfferCatalog {
        let names = servers.each().iter().map(|server| server.config.name.clone()).collect();
        OfferCatalog { names, ..OfferCatalog::default() }
    }

    /// Returns the names of the active servers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the offers that start with this word, which names a server; waits a moment if they are not
    /// known yet.
    pub fn matching(&self, prefix: &str) -> Vec<OfferEntry> {
        let word = prefix.strip_prefix(['@', '/']).unwrap_or(prefix);
        let is_server =
            |name: &&String| word.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':'));
        let Some(server) = self.names.iter().filter(is_server).max_by_key(|name| name.len()) else {
            return Vec::new();
        };
        let mut known = self.cached_offers();
        if !known.contains_key(server) {
            self.skipped().retain(|skipped| skipped != server);
            self.requested().push(server.clone());
            self.notice.notify_one();
            known = match self.changed.wait_timeout_while(known, WAIT, |known| {
                !known.contains_key(server) && !self.skipped().contains(server)
            }) {
                Ok((known, _)) => known,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        let fits = |offer: &&OfferEntry| offer.word.starts_with(prefix);
        known.get(server).into_iter().flatten().filter(fits).cloned().collect()
    }

    /// Waits until completion needs offers of servers, and returns the servers' names.
    pub async fn next_requests(&self) -> Vec<String> {
        self.notice.notified().await;
        std::mem::take(&mut *self.requested())
    }

    /// Adds the offers of those servers that have answered or failed.
    pub fn fill(&self, servers: &[Server]) {
        let settled = servers.iter().filter(|server| server.offers.is_some() || server.failure.is_some());
        self.cached_offers().extend(settled.map(|server| (server.config.name.clone(), offers_of(server))));
        self.changed.notify_all();
    }

    /// Marks servers that do not start now, so that completion does not wait for them.
    pub fn skip(&self, servers: Vec<String>) {
        self.skipped().extend(servers);
        self.changed.notify_all();
    }

    fn skipped(&self) -> MutexGuard<'_, Vec<String>> {
        self.skipped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cached_offers(&self) -> MutexGuard<'_, HashMap<String, Vec<OfferEntry>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requested(&self) -> MutexGuard<'_, Vec<String>> {
        self.requested.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn offers_of(server: &Server) -> Vec<OfferEntry> {
    let name = &server.config.name;
    let Some(offers) = &server.offers else { return Vec::new() };
    let resources = offers.resources.iter().map(|resource| {
        let about = [resource.name.as_str(), resource.description.as_str()].join(" ");
        // A template is completed up to its first variable, where the user continues.
        let uri = resource.uri.split('{').next().unwrap_or_default();
        OfferEntry { word: format!("@{name}:{uri}"), about: about.trim().to_string() }
    });
    let prompts = offers.prompts.iter().map(|prompt| {
        let about = [prompt.usage(), prompt.description.clone()].join("  ");
        OfferEntry { word: format!("/{name}:{}", prompt.name), about: about.trim().to_string() }
    });
    resources.chain(prompts).collect()
}
