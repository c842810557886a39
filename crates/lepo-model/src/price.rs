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

impl Price {
    /// The cost of tokens, in millionths of a millionth of the currency. Those in the cache are among those of the
    /// request.
    pub fn cost(self, input: u64, cached: u64, output: u64) -> u128 {
        let cached = cached.min(input);
        let tokens = [(input - cached, self.input), (cached, self.cached), (output, self.output)];
        tokens.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum()
    }
}
