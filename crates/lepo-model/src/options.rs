//! Parameters of every request that each wire has its own names for.

use serde_json::Number;

/// `options = { … }`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The temperature.
    pub temperature: Option<Number>,
    /// The longest answer, thinking included, in tokens.
    pub max_tokens: Option<u64>,
    /// The thinking effort: `none`, `low`, `medium`, `high`, or another word that its server knows.
    pub effort: Option<String>,
    /// The share of likely tokens that are chosen from.
    pub top_p: Option<Number>,
    /// Seed: with the same one a server that can gives the same answer.
    pub seed: Option<i64>,
    /// Texts that end an answer.
    pub stop: Vec<String>,
    /// The provider's own web search and fetch are offered.
    pub web: bool,
}

impl Options {
    /// These, and `under` where these say nothing.
    pub fn over(self, under: Options) -> Options {
        Options {
            temperature: self.temperature.or(under.temperature),
            max_tokens: self.max_tokens.or(under.max_tokens),
            effort: self.effort.or(under.effort),
            top_p: self.top_p.or(under.top_p),
            seed: self.seed.or(under.seed),
            stop: if self.stop.is_empty() { under.stop } else { self.stop },
            web: self.web || under.web,
        }
    }
}
