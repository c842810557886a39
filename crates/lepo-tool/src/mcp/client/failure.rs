//! Why a request came to nothing, and the time limits it had.

use std::time::Duration;

/// Why something came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server said no, in these words.
    Refused(String),
    /// Its program was not started, for this reason.
    NotStarted(String),
    /// The server said nothing for this long.
    Silent(Duration),
    /// The connection was lost, or never made.
    Lost(String),
    /// A message that could not be understood.
    Malformed(String),
    /// The server asks for a sign-in.
    SignIn(SignInNeeded),
}

/// A failure that a sign-in would mend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignInNeeded {
    /// The event.
    pub words: String,
    /// There was a sign-in, and it is over.
    pub over: bool,
    /// The server's challenge, for the sign-in to begin with.
    pub challenge: Option<String>,
    /// The right that is missing.
    pub scope: Option<String>,
}

/// The time limits of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Without a sign of life; progress is one.
    pub idle: Duration,
    /// In all.
    pub total: Duration,
}

/// A time limit that passed, in words.
pub fn silence(limit: Duration) -> String {
    format!("no answer for {:.1} s", limit.as_secs_f64())
}
