//! Parameters of every request, which each API names differently.

use serde_json::Number;

/// `options = { … }`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelOptions {
    /// The sampling temperature.
    pub temperature: Option<Number>,
    /// The longest answer, including thinking, in tokens.
    pub max_tokens: Option<u64>,
    /// The thinking effort: `none`, `low`, `medium`, `high`, or another word that the server knows.
    pub effort: Option<String>,
    /// The nucleus of likely tokens to choose from, as a share of their probability.
    pub top_p: Option<Number>,
    /// The seed: equal seeds produce equal answers, if the server supports it.
    pub seed: Option<i64>,
    /// Texts that end an answer.
    pub stop: Vec<String>,
    /// Whether the provider's own web search and fetch are offered.
    pub web: bool,
}

impl ModelOptions {
    /// Returns these options, with missing ones from `under`.
    pub fn or(self, under: ModelOptions) -> ModelOptions {
        ModelOptions {
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
