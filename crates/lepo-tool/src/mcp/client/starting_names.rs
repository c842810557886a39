//! The names of the servers that are starting, for a display that waits for them.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::timeout;

/// How long a server may start before it is named. Most need less.
const UNNAMED: Duration = Duration::from_secs(1);

/// Names in the order of the starts. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct StartingNames(Arc<Mutex<Vec<String>>>);

impl StartingNames {
    /// Returns the names of the servers that are starting now.
    pub fn list(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for `work`, in which servers may start. While it takes long, `show` gets the names whenever they have changed.
    pub async fn watch<T>(
        &self,
        mut work: Pin<&mut impl Future<Output = T>>,
        mut show: impl FnMut(&[String]),
    ) -> T {
        let mut shown = Vec::new();
        loop {
            if let Ok(done) = timeout(UNNAMED, work.as_mut()).await {
                return done;
            }
            let names = self.list();
            if names != shown {
                show(&names);
                shown = names;
            }
        }
    }

    /// Adds a server until the guard is dropped, which an abandoned start does too.
    pub(in crate::mcp) fn add(&self, name: &str) -> StartingGuard {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_string());
        StartingGuard { names: self.clone(), name: name.to_string() }
    }
}

pub(in crate::mcp) struct StartingGuard {
    names: StartingNames,
    name: String,
}

impl Drop for StartingGuard {
    fn drop(&mut self) {
        let mut names = self.names.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = names.iter().position(|name| *name == self.name) {
            names.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_as_long_as_it_starts() {
        let names = StartingNames::default();
        let shared = names.clone();
        let (one, two) = (names.add("one"), names.add("two"));
        assert_eq!(shared.list(), ["one", "two"]);
        drop(one);
        assert_eq!(shared.list(), ["two"]);
        drop(two);
        assert!(shared.list().is_empty());
    }

    #[test]
    fn two_servers_of_one_name_are_two() {
        let names = StartingNames::default();
        let (one, two) = (names.add("same"), names.add("same"));
        assert_eq!(names.list(), ["same", "same"]);
        drop(two);
        assert_eq!(names.list(), ["same"]);
        drop(one);
        assert!(names.list().is_empty());
    }
}
