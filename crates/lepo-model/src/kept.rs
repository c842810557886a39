//! A bound on what is kept of an answer beside its text.

use lepo_base::error::{Error, Result};
use lepo_net::net::LIMIT;

/// Bytes of an answer that are kept to be sent back: calls, and the reasoning before them.
#[derive(Default)]
pub(super) struct Kept(usize);

impl Kept {
    /// The most of them: four lines of the longest kind.
    const MOST: usize = 4 * LIMIT;

    /// Counts the line or event that more of them came in.
    pub fn count(&mut self, line: &[u8]) -> Result<()> {
        self.0 = self.0.saturating_add(line.len());
        match self.0 <= Kept::MOST {
            true => Ok(()),
            false => Err(Error::remote("the tool calls and the reasoning of the answer exceed 64 MiB")),
        }
    }
}
