//! Limits of a run.

use lepo_turn::config::{Flags, Money};

/// Heading of these options in the help.
const MODEL: &str = "Model";

/// Limits of all requests together.
#[derive(Debug, clap::Args)]
pub struct BudgetArgs {
    /// Send no request that could bring the total cost of this run above N, in the currency of the prices
    #[arg(long, value_name = "N", value_parser = Money::parse, help_heading = MODEL)]
    max_cost: Option<Money>,
    /// Send no request that could bring the total tokens of this run, requests and answers, above N
    #[arg(long, value_name = "N", help_heading = MODEL)]
    max_tokens_total: Option<u64>,
}

impl BudgetArgs {
    pub fn flags(&self, flags: Flags) -> Flags {
        Flags { max_cost: self.max_cost, max_tokens_total: self.max_tokens_total, ..flags }
    }
}
