//! Prices of a model's tokens: `price = { in = 3, out = 15, cached = 0.3 }`, per million tokens, in the user's
//! currency.

/// Prices of a million tokens, in millionths of the currency, so that sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Price of request tokens.
    pub input: u64,
    /// Price of answer tokens.
    pub output: u64,
    /// Price of request tokens from the provider's cache; by default the price of request tokens.
    pub cached: u64,
}

impl Price {
    /// Returns the cost of tokens, in millionths of a millionth of the currency. `input` includes `cached`.
    pub fn cost(self, input: u64, cached: u64, output: u64) -> u128 {
        let cached = cached.min(input);
        let tokens = [(input - cached, self.input), (cached, self.cached), (output, self.output)];
        tokens.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum()
    }
}
