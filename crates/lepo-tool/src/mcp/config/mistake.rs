//! Errors in the file of servers.

/// A mistake in a server's entry, and its remedy.
#[derive(Debug)]
pub struct EntryError {
    pub what: String,
    /// The remedy, such as the allowed values.
    pub hint: &'static str,
}

pub fn mistake<T>(what: impl Into<String>, hint: &'static str) -> std::result::Result<T, EntryError> {
    Err(EntryError { what: what.into(), hint })
}
