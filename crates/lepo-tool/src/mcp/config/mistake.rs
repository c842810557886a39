//! Errors in the file of servers.

/// A mistake in a server's entry, and its remedy.
#[derive(Debug)]
pub struct Mistake {
    pub what: String,
    /// The remedy, such as the allowed values.
    pub hint: &'static str,
}

pub fn mistake<T>(what: impl Into<String>, hint: &'static str) -> std::result::Result<T, Mistake> {
    Err(Mistake { what: what.into(), hint })
}
