//! Time limits of a server.

use std::time::Duration;

use super::client::Limits;
use crate::mcp::config::ServerConfig;

/// Time limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// To start and to list its tools.
    pub connect: Duration,
    /// For a call.
    pub call: Limits,
}

impl Patience {
    /// Replaces these limits by those in the configuration of a server.
    pub(super) fn with(self, server: &ServerConfig) -> Patience {
        let connect = server.details.connect.unwrap_or(self.connect);
        let call = server.details.call.map_or(self.call, |limit| Limits { idle: limit, total: limit });
        Patience { connect, call }
    }
}
