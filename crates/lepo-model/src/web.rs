//! The provider's own search and fetch: tools that its servers run for the model.

/// A search or a fetch that a provider's server ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebCall {
    /// Name of the tool: `web_search`, `web_fetch`.
    pub tool: String,
    /// The query, or the address.
    pub about: String,
}

/// A page on which the text before this is based.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// Title of the page; empty if the provider sends none.
    pub title: String,
    /// Address of the page.
    pub url: String,
}
