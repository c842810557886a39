//! Facts that a server told of its models, cached for an hour in the state directory, so that neither a question nor
//! completing a name waits for it twice.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::memory::replace;
use lepo_base::hash::hash_of;

/// The time for which a server's facts of its models are cached.
const HOUR: Duration = Duration::from_secs(3600);

/// The file in which a lookup is cached.
pub(super) struct Cache(PathBuf);

impl Cache {
    /// The list of the server at `place`, or what it says of one model.
    pub fn new(state_dir: &Path, provider: &str, place: &str, model: &str) -> Cache {
        let name = hash_of(&[provider.as_bytes(), place.as_bytes(), model.as_bytes()]);
        Cache(state_dir.join("catalogue").join(format!("{name}.json")))
    }

    /// The cached entry, if it is at most an hour old.
    pub fn load<T: for<'d> Deserialize<'d>>(&self) -> Option<T> {
        let age = self.kept_at()?.elapsed().ok()?;
        if age > HOUR {
            return None;
        }
        self.load_any()
    }

    /// The cached entry, of any age.
    pub fn load_any<T: for<'d> Deserialize<'d>>(&self) -> Option<T> {
        serde_json::from_slice(&std::fs::read(&self.0).ok()?).ok()
    }

    /// The time at which it was cached; none if it is not.
    pub fn kept_at(&self) -> Option<SystemTime> {
        std::fs::metadata(&self.0).ok()?.modified().ok()
    }

    /// Keeps it. It is a convenience: what cannot be written is looked up again.
    pub fn keep(&self, value: &impl Serialize) {
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        if let Err(error) = replace(&self.0, &bytes) {
            tracing::warn!("cannot write {}: {error}", self.0.display());
        }
    }
}
