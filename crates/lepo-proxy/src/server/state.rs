//! What all connections of a proxy share.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lepo_base::error::{Error, Result, cause};
use lepo_net::address::{is_loopback, needs_certificates};
use reqwest::{Client, ClientBuilder, redirect};
use tokio::sync::watch;
use url::Url;

use super::event::{EventSink, ProxyEvent};
use super::token::ProxyToken;
use super::upstream::UpstreamTable;
use crate::recorder::ProxyRecorder;

/// Time for a connection to a server.
const CONNECT: Duration = Duration::from_secs(10);

/// Shared by all connections.
pub struct ProxyState {
    pub(super) token: ProxyToken,
    pub(super) port: u16,
    pub(super) upstreams: UpstreamTable,
    pub(super) recorder: Arc<ProxyRecorder>,
    /// For servers of this machine, without certificates and the environment's proxy.
    near: Client,
    far: Client,
    sink: Box<EventSink>,
    paths_told: Mutex<BTreeSet<String>>,
    has_unreadable: AtomicBool,
    end: watch::Sender<bool>,
    running: watch::Sender<usize>,
}

/// An exchange that goes on, counted until it is dropped.
struct RunningExchange(Arc<ProxyState>);

impl Drop for RunningExchange {
    fn drop(&mut self) {
        self.0.running.send_modify(|count| *count -= 1);
    }
}

impl ProxyState {
    /// Prepares the clients; connects to nothing.
    pub fn new(
        token: ProxyToken,
        port: u16,
        upstreams: UpstreamTable,
        recorder: Arc<ProxyRecorder>,
        sink: Box<EventSink>,
    ) -> Result<ProxyState> {
        let build = |builder: ClientBuilder| {
            let builder = builder.redirect(redirect::Policy::none()).http1_only().tcp_nodelay(true);
            builder.connect_timeout(CONNECT).build().map_err(|error| {
                Error::remote(format!("cannot prepare connections: {}", cause(&error.without_url())))
            })
        };
        Ok(ProxyState {
            token,
            port,
            upstreams,
            recorder,
            near: build(lepo_net::client::client().no_proxy().tls_certs_only([]))?,
            far: build(lepo_net::client::client())?,
            sink,
            paths_told: Mutex::default(),
            has_unreadable: AtomicBool::new(false),
            end: watch::Sender::new(false),
            running: watch::Sender::new(0),
        })
    }

    /// Returns the address that clients know.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the client for an address.
    pub fn client(&self, url: &Url) -> &Client {
        match is_loopback(url) && !needs_certificates(url) {
            true => &self.near,
            false => &self.far,
        }
    }

    /// Hands an event to whoever started the proxy.
    pub fn tell(&self, event: ProxyEvent) {
        (self.sink)(event);
    }

    /// Tells of a path that is only passed on, once.
    pub fn tell_passed_on(&self, method: &str, path: &str) {
        /// Paths that are remembered: a client that makes up new ones is told of no more.
        const MOST: usize = 1_000;
        let mut told = self.paths_told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < MOST && told.insert(format!("{method} {path}")) {
            self.tell(ProxyEvent::PassedOn { method: method.to_string(), path: path.to_string() });
        }
    }

    /// Notes a request of the four kinds that could not be read.
    pub fn note_unreadable(&self) {
        self.has_unreadable.store(true, Ordering::Relaxed);
    }

    /// Whether a request of the four kinds could not be read.
    pub fn has_unreadable(&self) -> bool {
        self.has_unreadable.load(Ordering::Relaxed)
    }

    /// Ends the proxy: every answer on its way is cut.
    pub fn end(&self) {
        self.end.send_replace(true);
    }

    /// Waits until the proxy ends.
    pub async fn ended(&self) {
        let mut end = self.end.subscribe();
        // An error means that the proxy is gone, which is an end, too.
        let _ = end.wait_for(|has_ended| *has_ended).await;
    }

    /// Runs an exchange by itself: it ends what it keeps even if its client is gone.
    pub fn spawn(self: &Arc<Self>, exchange: impl Future<Output = ()> + Send + 'static) {
        self.running.send_modify(|count| *count += 1);
        let running = RunningExchange(self.clone());
        tokio::spawn(async move {
            exchange.await;
            drop(running);
        });
    }

    /// Waits until no exchange goes on.
    pub async fn exchanges_ended(&self) {
        let mut running = self.running.subscribe();
        let _ = running.wait_for(|count| *count == 0).await;
    }
}
