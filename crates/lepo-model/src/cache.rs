//! Caches a server's facts about its models for an hour in the state directory, so that neither a question nor the
//! completion of a name waits for them twice.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::quirk_file::replace;
use lepo_base::hash::hash_of;

/// How long a server's facts about its models are cached.
const HOUR: Duration = Duration::from_secs(3600);

/// The cache file of a lookup.
pub(super) struct Cache(PathBuf);

impl Cache {
    /// Names the file for the list of the server at the address `place`, or for its facts about `model`.
    pub fn new(state_dir: &Path, provider: &str, url: &str, model: &str) -> Cache {
        let name = hash_of(&[provider.as_bytes(), url.as_bytes(), model.as_bytes()]);
        Cache(state_dir.join("catalogue").join(format!("{name}.json")))
    }

    /// Returns the cached entry, if it is at most an hour old.
    pub fn load<T: for<'d> Deserialize<'d>>(&self) -> Option<T> {
        let age = self.cached_at()?.elapsed().ok()?;
        if age > HOUR {
            return None;
        }
        self.load_any()
    }

    /// Returns the cached entry, of any age.
    pub fn load_any<T: for<'d> Deserialize<'d>>(&self) -> Option<T> {
        serde_json::from_slice(&std::fs::read(&self.0).ok()?).ok()
    }

    /// Returns when the entry was written; `None` without an entry.
    pub fn cached_at(&self) -> Option<SystemTime> {
        std::fs::metadata(&self.0).ok()?.modified().ok()
    }

    /// Writes the entry. A failure is only logged: the facts will be requested again.
    pub fn save(&self, value: &impl Serialize) {
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        if let Err(error) = replace(&self.0, &bytes) {
            tracing::warn!("cannot write {}: {error}", self.0.display());
        }
    }
}
