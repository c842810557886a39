//! The environment of the process: read here and nowhere else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::error::{Error, Result};

/// A variable, even an empty one.
pub fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// A variable as text; none if it is not UTF-8.
pub fn text(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// All variables.
pub fn vars() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// Environment variables, taken once from the process. Tests hand in their own. Not `Debug`: some of them are
/// keys.
#[derive(Clone, Default)]
pub struct Env(BTreeMap<String, OsString>);

impl Env {
    /// The environment of this process, as it is now. Names that are not UTF-8 are left out.
    pub fn from_process() -> Env {
        let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
        Env(vars().filter_map(named).collect())
    }

    /// One with exactly these variables.
    pub fn of(variables: &[(&str, &str)]) -> Env {
        Env(variables.iter().map(|(name, value)| (name.to_string(), value.into())).collect())
    }

    /// All variables whose values are text.
    pub fn all(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().filter_map(|(name, value)| Some((name.clone(), value.to_str()?.to_string())))
    }

    /// The value of a variable. An empty one counts as not set, as in the XDG specification.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The value as text; an error (exit 2) that names the variable if it is not UTF-8.
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
