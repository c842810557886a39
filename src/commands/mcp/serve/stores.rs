//! The stores that are served, opened anew for each request: one may be made, synchronised or removed meanwhile.

use std::path::{Path, PathBuf};

use crate::commands::find_from;
use lepo_base::error::{Error, Result};
use lepo_store::store::{STORE, Store};

/// The begin of a resource's address.
const SCHEME: &str = "lepo://";

/// The stores of a server.
pub struct Stores {
    cwd: PathBuf,
    /// As `-s` named them; none for the default.
    named: Vec<Option<PathBuf>>,
    others: bool,
}

impl Stores {
    /// These stores, or the default one if none is named.
    pub fn new(cwd: &Path, named: &[PathBuf], others: bool) -> Stores {
        let named = match named {
            [] => vec![None],
            named => named.iter().cloned().map(Some).collect(),
        };
        Stores { cwd: cwd.to_path_buf(), named, others }
    }

    /// The number of them.
    pub fn len(&self) -> usize {
        self.named.len()
    }

    /// A store; none if it is not there.
    pub fn open(&self, number: usize) -> Result<Option<Store>> {
        let store = match self.named.get(number) {
            Some(Some(path)) if path.is_absolute() => Store::anywhere(path)?,
            Some(Some(path)) => Store::at(&self.cwd, path)?,
            _ => find_from(&self.cwd)?,
        };
        Ok(store.map(|store| if self.others { store } else { store.alone() }))
    }

    /// All that are there, each with its number.
    pub fn all(&self) -> Result<Vec<(usize, Store)>> {
        let mut stores = Vec::new();
        for number in 0..self.len() {
            stores.extend(self.open(number)?.map(|store| (number, store)));
        }
        Ok(stores)
    }

    /// A store's name for people.
    pub fn shown(&self, number: usize) -> String {
        match self.named.get(number) {
            Some(Some(path)) => path.display().to_string(),
            _ => STORE.to_string(),
        }
    }

    /// A sentence for each store that is not there.
    pub fn missing(&self) -> String {
        let is_missing = |number: &usize| matches!(self.open(*number), Ok(None));
        let told = |number| format!("There is no store {} yet: it has no messages.\n", self.shown(number));
        (0..self.len()).filter(is_missing).map(told).collect()
    }

    /// The address of a resource.
    pub fn uri(&self, number: usize, id: &str) -> String {
        format!("{SCHEME}{}/{id}", self.word(number))
    }

    /// A store as it stands in an address: what `-s` named, percent-encoded; `.` for the default.
    pub fn word(&self, number: usize) -> String {
        match self.named.get(number) {
            Some(Some(path)) => encoded(path.as_os_str().as_encoded_bytes()),
            _ => ".".to_string(),
        }
    }

    /// The store and the message of a resource's address.
    pub fn of_uri<'u>(&self, uri: &'u str) -> Result<(usize, &'u str)> {
        let unknown = || Error::nothing(format!("no resource {uri:?}"));
        let (store, id) =
            uri.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
        let number = (0..self.len()).find(|number| self.word(*number) == store).ok_or_else(|| {
            Error::nothing(format!("no resource {uri:?}: store {store:?} is not served here"))
        })?;
        Ok((number, id))
    }

    /// True for the address of a resource.
    pub fn is_uri(address: &str) -> bool {
        address.starts_with(SCHEME)
    }
}

/// Percent-encodes all but letters, digits and `-._~`.
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
        let stores = Stores::new(Path::new("/"), &["a b".into(), "/x/한".into()], false);
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
            assert_eq!(stores.of_uri(uri).ok(), expected, "{uri}");
        }
        assert_eq!(stores.uri(1, "ID"), "lepo://%2Fx%2F%ED%95%9C/ID");
        let default = Stores::new(Path::new("/"), &[], false);
        assert_eq!(default.of_uri("lepo://./01J").unwrap(), (0, "01J"));
    }
}
