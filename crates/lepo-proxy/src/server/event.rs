//! What the proxy tells while it runs. Whoever started it prints it.

use std::time::Duration;

use lepo_store::bubb::BubbId;

use crate::recording::ExchangeNote;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyEvent {
    /// A request of one of the four kinds was answered.
    Exchange(ExchangeFacts),
    /// A request of another path was passed on, for the first time on this path.
    PassedOn {
        /// Its method.
        method: String,
        /// Its path, without a query.
        path: String,
    },
    /// A request of one of the four kinds was passed on and not kept.
    NotKept {
        /// Its path, without a query.
        path: String,
        /// Why it could not be read.
        reason: String,
    },
    /// A request was refused by the proxy.
    Refused {
        /// Its path, without a query.
        path: String,
        /// The status of the answer.
        status: u16,
        /// What the client was told.
        message: String,
    },
    /// An answer came from the files with masks in the place of secrets, for the first time.
    Masked,
}

/// The facts of one exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeFacts {
    /// The model, as the client named it.
    pub model: String,
    /// Messages of the request, with its system prompt.
    pub messages: usize,
    /// Messages of the request that were new.
    pub new: usize,
    /// The status of the answer.
    pub status: u16,
    /// The message of the answer, if it was kept.
    pub answer: Option<BubbId>,
    /// Whether it was answered from the files.
    pub is_recorded: bool,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// From the request to the end of the answer.
    pub took: Duration,
    /// What is to be said about the answer.
    pub notes: Vec<ExchangeNote>,
    /// Why something could not be kept.
    pub fault: Option<String>,
}

/// Receives events, from any thread.
pub type EventSink = dyn Fn(ProxyEvent) + Send + Sync;
