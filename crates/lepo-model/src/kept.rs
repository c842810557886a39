//! A limit on the parts of an answer that lepo stores for replay.

use lepo_base::error::{Error, Result};
use lepo_net::client::LIMIT;

/// Counts the bytes to store of an answer, so that it can be sent back: calls, and the reasoning before them.
#[derive(Default)]
pub(super) struct ReplayBudget(usize);

impl ReplayBudget {
    /// Most of these bytes: four lines of the greatest length.
    const MOST: usize = 4 * LIMIT;

    /// Adds the line or event that contained more of them.
    pub fn count(&mut self, line: &[u8]) -> Result<()> {
        self.0 = self.0.saturating_add(line.len());
        match self.0 <= ReplayBudget::MOST {
            true => Ok(()),
            false => Err(Error::remote("the tool calls and the reasoning of the answer exceed 64 MiB")),
        }
    }
}
