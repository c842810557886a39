//! The provider's own search and fetch: tools that its servers run for the model.

/// A search or a fetch that a provider's server made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebCall {
    /// `web_search`, `web_fetch`.
    pub tool: String,
    /// The words that were searched for, or the address.
    pub about: String,
}

/// A page that the words before it are taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// Title of the page; empty if none was told.
    pub title: String,
    /// Address of the page.
    pub url: String,
}
