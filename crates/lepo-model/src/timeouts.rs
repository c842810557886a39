//! Time limits of a model.

use std::time::Duration;

/// Time limits of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For opening a connection.
    pub connect: Duration,
    /// For the first piece of an answer, and between two pieces.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts { connect: Duration::from_secs(10), idle: Duration::from_secs(120) }
    }
}
