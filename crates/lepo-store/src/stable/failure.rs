//! The error type of the stable interface.

use std::fmt;

use lepo_base::error::{Error, Result};

/// A failure, described in one line: the action, its object and the reason.
///
/// ```
/// let failure = lepo_store::Conversations::open("/no/such/store".as_ref()).err().unwrap();
/// assert_eq!(failure.to_string(), "no store /no/such/store");
/// ```
pub struct Failure(String);

impl Failure {
    pub(super) fn from_error(error: Error) -> Failure {
        Failure(error.chain())
    }
}

pub(super) fn failed<T>(result: Result<T>) -> std::result::Result<T, Failure> {
    result.map_err(Failure::from_error)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}
