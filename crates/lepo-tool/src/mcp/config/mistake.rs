//! A mistake in the file of servers.

/// A mistake in a server, and what is allowed.
#[derive(Debug)]
pub struct Mistake {
    /// The mistake.
    pub what: String,
    /// The remedy: the values that are allowed.
    pub hint: &'static str,
}

pub fn mistake<T>(what: impl Into<String>, hint: &'static str) -> std::result::Result<T, Mistake> {
    Err(Mistake { what: what.into(), hint })
}
