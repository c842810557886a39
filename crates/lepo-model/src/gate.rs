//! A gate between opening a connection and using it, so that connecting costs no time: it happens while the
//! question is still being written to disk, and no byte of it is sent before the write has ended.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::watch;
use tower_layer::Layer;
use tower_service::Service;

/// Closed until [`Gate::open`]. Clones share their state.
#[derive(Debug, Clone)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    /// Creates a closed gate.
    pub fn new() -> Self {
        Gate(Arc::new(watch::Sender::new(false)))
    }

    /// Lets requests pass.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Delays further requests until the gate is opened again.
    pub fn close(&self) {
        self.0.send_replace(false);
    }

    /// Waits until the gate is open.
    pub async fn wait_open(&self) {
        // The sender lives in `self`, so the wait cannot fail.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Gate::new()
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Adds the gate after a connector: connect (TCP and TLS, within `limit`), then wait, then return the connection.
///
/// The limit is enforced here, because the client's own would include the wait.
#[derive(Clone)]
pub(super) struct GateLayer {
    pub gate: Gate,
    pub limit: Duration,
}

impl<S> Layer<S> for GateLayer {
    type Service = GatedConnector<S>;

    fn layer(&self, connector: S) -> GatedConnector<S> {
        GatedConnector { connector, gate: self.gate.clone(), limit: self.limit }
    }
}

/// A connector followed by a gate.
#[derive(Clone)]
pub(super) struct GatedConnector<S> {
    connector: S,
    gate: Gate,
    limit: Duration,
}

impl<S, Target> Service<Target> for GatedConnector<S>
where
    S: Service<Target, Error = BoxError>,
    S::Response: Send,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(context)
    }

    fn call(&mut self, target: Target) -> Self::Future {
        let connecting = self.connector.call(target);
        let (gate, limit) = (self.gate.clone(), self.limit);
        Box::pin(async move {
            let connection = tokio::time::timeout(limit, connecting)
                .await
                .map_err(|_| format!("no connection within {} s", limit.as_secs_f32()))??;
            gate.wait_open().await;
            Ok(connection)
        })
    }
}
