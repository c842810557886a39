//! A gate between opening a connection and using it, so that connecting costs no time of its own:
//! it happens while the question is still being made durable, and not one byte of it leaves before.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::watch;
use tower_layer::Layer;
use tower_service::Service;

/// Closed until [`Gate::open`]. Clones are one and the same gate.
#[derive(Debug, Clone)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    /// A gate that is closed.
    pub fn new() -> Self {
        Gate(Arc::new(watch::Sender::new(false)))
    }

    /// Lets requests leave.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Holds back the requests that come after, until it is opened again.
    pub fn close(&self) {
        self.0.send_replace(false);
    }

    /// Waits until the gate is open.
    pub async fn passed(&self) {
        // The sender lives in `self`, so the wait cannot fail.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Gate::new()
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Puts the gate behind a connector: connect (TCP and TLS, within `limit`), then wait, then hand out.
///
/// The limit is kept here and not by the client, whose own would count the waiting too.
#[derive(Clone)]
pub(super) struct GateLayer {
    pub gate: Gate,
    pub limit: Duration,
}

impl<S> Layer<S> for GateLayer {
    type Service = Gated<S>;

    fn layer(&self, connector: S) -> Gated<S> {
        Gated { connector, gate: self.gate.clone(), limit: self.limit }
    }
}

/// A connector with a gate behind it.
#[derive(Clone)]
pub(super) struct Gated<S> {
    connector: S,
    gate: Gate,
    limit: Duration,
}

impl<S, Target> Service<Target> for Gated<S>
where
    S: Service<Target, Error = Failure>,
    S::Response: Send,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, Failure>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.connector.poll_ready(context)
    }

    fn call(&mut self, target: Target) -> Self::Future {
        let connecting = self.connector.call(target);
        let (gate, limit) = (self.gate.clone(), self.limit);
        Box::pin(async move {
            let connection = tokio::time::timeout(limit, connecting)
                .await
                .map_err(|_| format!("no connection within {} s", limit.as_secs_f32()))??;
            gate.passed().await;
            Ok(connection)
        })
    }
}
