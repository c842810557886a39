//! The environment of the process, read nowhere else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Returns a variable, even if it is empty.
pub fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Returns a variable as text; `None` if it is not UTF-8.
pub fn text(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns all variables.
pub fn vars() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// Replaces a leading `~`, which no shell expanded, by the home directory if there is one.
pub fn expand_home(path: PathBuf, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path,
    }
}

/// A snapshot of the environment; tests create their own. Not `Debug`, because some variables contain keys.
#[derive(Clone, Default)]
pub struct Env(BTreeMap<String, OsString>);

impl Env {
    /// Copies the environment of this process, except names that are not UTF-8.
    pub fn from_process() -> Env {
        let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
        Env(vars().filter_map(named).collect())
    }

    /// Creates an `Env` from these pairs (for tests).
    pub fn from_pairs(variables: &[(&str, &str)]) -> Env {
        Env(variables.iter().map(|(name, value)| (name.to_string(), value.into())).collect())
    }

    /// Yields all variables whose values are UTF-8.
    pub fn all(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().filter_map(|(name, value)| Some((name.clone(), value.to_str()?.to_string())))
    }

    /// Returns the value of a variable. An empty value counts as unset, as in the XDG specification.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Returns the value as text; fails (exit code 2) if it is not UTF-8.
    pub fn text(&self, name: &str) -> Result<Option<&str>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match value.to_str() {
            Some(text) => Ok(Some(text)),
            None => Err(Error::usage(format!("environment variable {name} is not UTF-8"))
                .hint(format!("set {name} to plain text, or unset it"))),
        }
    }
}
