//! The price of a model's tokens: `price = { in = 3, out = 15, cached = 0.3 }`, per million tokens, in the currency of
//! the user's choice.

/// Prices of a million tokens, in millionths of the currency, so that sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Tokens of requests.
    pub input: u64,
    /// Tokens of answers.
    pub output: u64,
    /// Tokens of requests that the provider had in its cache; those of requests if it is not said.
    pub cached: u64,
}
