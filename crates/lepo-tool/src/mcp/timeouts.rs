//! Time limits of a server.

use std::time::Duration;

use super::client::TimeLimits;
use crate::mcp::config::ServerConfig;

/// Time limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerTimeouts {
    /// To start and to list its tools.
    pub connect: Duration,
    /// For a call.
    pub call: TimeLimits,
}

impl ServerTimeouts {
    /// Replaces these limits by those in the configuration of a server.
    pub(super) fn with(self, server: &ServerConfig) -> ServerTimeouts {
        let connect = server.details.connect.unwrap_or(self.connect);
        let call = server.details.call.map_or(self.call, |limit| TimeLimits { idle: limit, total: limit });
        ServerTimeouts { connect, call }
    }
}
