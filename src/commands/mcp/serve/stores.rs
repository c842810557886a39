//! The stores to serve, reopened for each request: a store may be created, synchronised or removed in the
//! meantime.

use std::path::{Path, PathBuf};

use crate::commands::find_from;
use lepo_base::error::{Error, Result};
use lepo_store::store::{STORE, Store};

const SCHEME: &str = "lepo://";

pub struct ServedStores {
    cwd: PathBuf,
    /// As given to `-s`; `None` for the default store.
    named: Vec<Option<PathBuf>>,
    with_peers: bool,
}

impl ServedStores {
    /// Uses the default store if no store is named.
    pub fn new(cwd: &Path, named: &[PathBuf], with_peers: bool) -> ServedStores {
        let named = match named {
            [] => vec![None],
            named => named.iter().cloned().map(Some).collect(),
        };
        ServedStores { cwd: cwd.to_path_buf(), named, with_peers }
    }

    pub fn len(&self) -> usize {
        self.named.len()
    }

    pub fn open(&self, number: usize) -> Result<Option<Store>> {
        let store = match self.named.get(number) {
            Some(Some(path)) if path.is_absolute() => Store::anywhere(path)?,
            Some(Some(path)) => Store::at(&self.cwd, path)?,
            _ => find_from(&self.cwd)?,
        };
        Ok(store.map(|store| if self.with_peers { store } else { store.alone() }))
    }

    /// Opens all existing stores, each with its number.
    pub fn all(&self) -> Result<Vec<(usize, Store)>> {
        let mut stores = Vec::new();
        for number in 0..self.len() {
            stores.extend(self.open(number)?.map(|store| (number, store)));
        }
        Ok(stores)
    }

    pub fn display_name(&self, number: usize) -> String {
        match self.named.get(number) {
            Some(Some(path)) => path.display().to_string(),
            _ => STORE.to_string(),
        }
    }

    /// Returns a sentence for each store that does not exist.
    pub fn missing_notes(&self) -> String {
        let is_missing = |number: &usize| matches!(self.open(*number), Ok(None));
        let message =
            |number| format!("There is no store {} yet: it has no messages.\n", self.display_name(number));
        (0..self.len()).filter(is_missing).map(message).collect()
    }

    pub fn uri(&self, number: usize, id: &str) -> String {
        format!("{SCHEME}{}/{id}", self.uri_segment(number))
    }

    /// The store's part of a URI: the argument of `-s`, percent-encoded; `.` for the default.
    pub fn uri_segment(&self, number: usize) -> String {
        match self.named.get(number) {
            Some(Some(path)) => encoded(path.as_os_str().as_encoded_bytes()),
            _ => ".".to_string(),
        }
    }

    /// Splits a resource's URI into store and message id.
    pub fn resolve_uri<'u>(&self, uri: &'u str) -> Result<(usize, &'u str)> {
        let unknown = || Error::nothing(format!("no resource {uri:?}"));
        let (store, id) =
            uri.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
        let number = (0..self.len()).find(|number| self.uri_segment(*number) == store).ok_or_else(|| {
            Error::nothing(format!("no resource {uri:?}: store {store:?} is not served here"))
        })?;
        Ok((number, id))
    }

    pub fn is_uri(address: &str) -> bool {
        address.starts_with(SCHEME)
    }
}

/// Percent-encodes everything but letters, digits and `-._~`.
fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(byte.into()),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_of_a_store_that_is_served() {
        let stores = ServedStores::new(Path::new("/"), &["a b".into(), "/x/한".into()], false);
        for (uri, expected) in [
            ("lepo://a%20b/01J", Some((0, "01J"))),
            ("lepo://%2Fx%2F%ED%95%9C/01J", Some((1, "01J"))),
            ("lepo://./01J", None),
            ("lepo://a b/01J", None),
            ("lepo://%2Fetc/passwd", None),
            ("lepo://a%20b", None),
            ("file:///etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(stores.resolve_uri(uri).ok(), expected, "{uri}");
        }
        assert_eq!(stores.uri(1, "ID"), "lepo://%2Fx%2F%ED%95%9C/ID");
        let default = ServedStores::new(Path::new("/"), &[], false);
        assert_eq!(default.resolve_uri("lepo://./01J").unwrap(), (0, "01J"));
    }
}
