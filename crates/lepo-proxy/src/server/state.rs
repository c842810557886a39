//! The state that all connections of a proxy share, and the events that they report.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lepo_base::error::{Error, Result, cause};
use lepo_net::client::client_for;
use reqwest::{Client, redirect};
use tokio::sync::watch;
use url::{Origin, Url};

use super::token::ProxyToken;
use super::upstream::UpstreamTable;
use crate::cassette::ProxyCassette;
use crate::recorder::ProxyRecorder;
use crate::recording::ExchangeNote;
use lepo_store::bubb::BubbId;

/// Time for a connection to a server.
const CONNECT: Duration = Duration::from_secs(10);

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
    /// A request of one of the four kinds was passed on without a record.
    NotKept {
        /// Its path, without a query.
        path: String,
        /// Why it could not be read.
        reason: String,
    },
    /// A request of one of the four kinds has no recorded answer, and was not sent.
    Unrecorded {
        /// Its path, without a query.
        path: String,
        /// Why, with the nearest recorded message.
        message: String,
    },
    /// Secrets in an answer of the store are masked; reported once.
    Masked,
    /// A request was refused by the proxy.
    Refused {
        /// Its path, without a query.
        path: String,
        /// The status of the answer.
        status: u16,
        /// The message to the client.
        message: String,
    },
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
    /// The message of the answer, if the store has one.
    pub answer: Option<BubbId>,
    /// Whether it was answered from the files.
    pub is_recorded: bool,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// From the request to the end of the answer.
    pub took: Duration,
    /// Notes about the answer.
    pub notes: Vec<ExchangeNote>,
    /// The error of a failed write.
    pub fault: Option<String>,
}

/// Receives events, from any thread.
pub type EventSink = dyn Fn(ProxyEvent) + Send + Sync;

/// Shared by all connections.
pub struct ProxyState {
    pub(super) token: ProxyToken,
    pub(super) port: u16,
    pub(super) upstreams: UpstreamTable,
    pub(super) recorder: Arc<ProxyRecorder>,
    /// The recorded answers; `None` if every request is sent.
    pub(super) cassette: Option<ProxyCassette>,
    /// Nothing is sent.
    pub(super) is_offline: bool,
    unrecorded: AtomicU64,
    has_reported_masks: AtomicBool,
    /// By the origin of the server.
    clients: Mutex<HashMap<Origin, Client>>,
    sink: Box<EventSink>,
    known_paths: Mutex<BTreeSet<String>>,
    end: watch::Sender<bool>,
    running: watch::Sender<usize>,
}

/// A running exchange, counted until it is dropped.
struct RunningExchange(Arc<ProxyState>);

impl Drop for RunningExchange {
    fn drop(&mut self) {
        self.0.running.send_modify(|count| *count -= 1);
    }
}

impl ProxyState {
    /// Creates the state of a proxy that has no connections yet.
    pub fn new(
        token: ProxyToken,
        port: u16,
        upstreams: UpstreamTable,
        recorder: Arc<ProxyRecorder>,
        sink: Box<EventSink>,
    ) -> ProxyState {
        ProxyState {
            token,
            port,
            upstreams,
            recorder,
            cassette: None,
            is_offline: false,
            unrecorded: AtomicU64::new(0),
            has_reported_masks: AtomicBool::new(false),
            clients: Mutex::default(),
            sink,
            known_paths: Mutex::default(),
            end: watch::Sender::new(false),
            running: watch::Sender::new(0),
        }
    }

    /// Answers from the store what it has recorded; with `is_offline`, sends nothing at all.
    pub fn answering_from(self, cassette: ProxyCassette, is_offline: bool) -> ProxyState {
        ProxyState { cassette: Some(cassette), is_offline, ..self }
    }

    /// Returns the number of requests that had no recorded answer and were not sent.
    pub fn unrecorded(&self) -> u64 {
        self.unrecorded.load(Ordering::Relaxed)
    }

    /// Counts and reports an unsent request without a recorded answer.
    pub(super) fn report_unrecorded(&self, path: &str, message: &str) {
        self.unrecorded.fetch_add(1, Ordering::Relaxed);
        self.report(ProxyEvent::Unrecorded { path: path.to_string(), message: message.to_string() });
    }

    /// Reports, once, that answers of the store have masks.
    pub(super) fn report_masks(&self) {
        if !self.has_reported_masks.swap(true, Ordering::Relaxed) {
            self.report(ProxyEvent::Masked);
        }
    }

    /// Returns the address that clients know.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the client for an address; the first for a server may read certificates.
    pub fn client(&self, url: &Url) -> Result<Client> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&url.origin()) {
            return Ok(client.clone());
        }
        let builder = client_for(url).redirect(redirect::Policy::none()).http1_only().tcp_nodelay(true);
        let client = builder.connect_timeout(CONNECT).build().map_err(|error| {
            Error::remote(format!("cannot prepare connections: {}", cause(&error.without_url())))
        })?;
        clients.insert(url.origin(), client.clone());
        Ok(client)
    }

    /// Reports an event to the caller that started the proxy.
    pub fn report(&self, event: ProxyEvent) {
        (self.sink)(event);
    }

    /// Reports a path that is only passed on, once.
    pub fn report_passed_on(&self, method: &str, path: &str) {
        if self.is_new_path(method, path) {
            self.report(ProxyEvent::PassedOn { method: method.to_string(), path: path.to_string() });
        }
    }

    /// Whether a path is seen for the first time.
    pub(super) fn is_new_path(&self, method: &str, path: &str) -> bool {
        /// The most paths in memory: a client can make up new ones forever.
        const MOST: usize = 1_000;
        let mut known = self.known_paths.lock().unwrap_or_else(PoisonError::into_inner);
        known.len() < MOST && known.insert(format!("{method} {path}"))
    }

    /// Ends the proxy: every answer on its way is cut.
    pub fn end(&self) {
        self.end.send_replace(true);
    }

    /// Waits until the proxy ends.
    pub async fn wait_until_ended(&self) {
        let mut end = self.end.subscribe();
        // An error means that the proxy is gone, which is an end, too.
        let _ = end.wait_for(|has_ended| *has_ended).await;
    }

    /// Runs an exchange in a task of its own, which ends its recording even without a client.
    pub fn spawn(self: &Arc<Self>, exchange: impl Future<Output = ()> + Send + 'static) {
        self.running.send_modify(|count| *count += 1);
        let running = RunningExchange(self.clone());
        tokio::spawn(async move {
            exchange.await;
            drop(running);
        });
    }

    /// Waits until no exchange is running.
    pub async fn exchanges_ended(&self) {
        let mut running = self.running.subscribe();
        let _ = running.wait_for(|count| *count == 0).await;
    }
}
