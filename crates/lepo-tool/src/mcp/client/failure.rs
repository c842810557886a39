//! Why a request failed, and its time limits.

use crate::mcp::config::ServerConfig;
use std::time::Duration;

/// Why a request to a server failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFailure {
    /// The server refused, with this text.
    Refused(String),
    /// The program was not started, and why.
    NotStarted(String),
    /// The server sent nothing for this long.
    Silent(Duration),
    /// The connection was lost or never established, and why.
    Lost(String),
    /// The server sent a message that cannot be understood.
    Malformed(String),
    /// The server requires a sign-in.
    SignIn(SignInNeeded),
}

/// A failure that a sign-in would resolve.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignInNeeded {
    /// Description of the failure.
    pub reason: String,
    /// Whether an earlier sign-in has expired.
    pub has_expired: bool,
    /// The server's challenge, with which the sign-in starts.
    pub challenge: Option<String>,
    /// The scope that is missing.
    pub scope: Option<String>,
}

/// Time limits of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// Longest time without a sign of life, such as progress.
    pub idle: Duration,
    /// Longest time in total.
    pub total: Duration,
}

/// Describes a time limit that has passed.
pub fn silence(limit: Duration) -> String {
    format!("no answer for {:.1} s", limit.as_secs_f64())
}

/// Longest wait for the start of a server that was silent lately.
const BRIEF: Duration = Duration::from_secs(2);

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
    pub(in crate::mcp) fn with(self, server: &ServerConfig) -> ServerTimeouts {
        let connect = server.details.connect.unwrap_or(self.connect);
        let call = server.details.call.map_or(self.call, |limit| TimeLimits { idle: limit, total: limit });
        ServerTimeouts { connect, call }
    }

    /// Shortens these limits for a server that was silent lately.
    pub(in crate::mcp) fn shortened(self) -> ServerTimeouts {
        ServerTimeouts { connect: self.connect.min(BRIEF), ..self }
    }
}
