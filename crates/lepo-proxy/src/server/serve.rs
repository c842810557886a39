//! The listener on this machine, and the end of all exchanges.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use lepo_base::error::{Error, Result};
use tokio::net::{TcpListener, TcpStream};

use super::connections::{BusyConnection, ConnectionEntry, ConnectionTable};
use super::request_body::SILENCE_LIMIT;
use super::service::answer;
use super::state::ProxyState;

/// Bytes of the headers of a request.
const HEADERS: usize = 64 << 10;

/// Time for the recordings of unfinished answers when the proxy ends.
const ENDING: Duration = Duration::from_secs(10);

/// Time without descriptors for a connection before it is tried again.
const PAUSE: Duration = Duration::from_millis(100);

/// A listener of the proxy, which has no state yet.
pub struct ProxyListener {
    listener: TcpListener,
    /// The port that it listens on.
    pub port: u16,
}

impl ProxyListener {
    /// Listens on a port of 127.0.0.1; 0 is a free one.
    pub async fn bind(port: u16) -> Result<ProxyListener> {
        let failed = |error: std::io::Error| {
            Error::usage(format!("cannot listen on 127.0.0.1:{port}"))
                .because(error)
                .hint("another port: --port N; a free one without --port")
        };
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(ProxyListener { listener, port })
    }

    /// Serves until `until` is ready; then every unfinished answer is cut, and its part recorded.
    pub async fn serve(self, state: Arc<ProxyState>, until: impl Future<Output = ()>) {
        let table = Arc::new(ConnectionTable::default());
        let accepting = async {
            loop {
                match self.listener.accept().await {
                    Ok((stream, _)) => {
                        // Waits for room only after accepting, so that 64 concurrent clients are all served.
                        let entry = table.add().await;
                        drop(tokio::spawn(serve_connection(stream, entry, state.clone())));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection was not accepted");
                        tokio::time::sleep(PAUSE).await;
                    }
                }
            }
        };
        tokio::select! {
            () = until => {}
            () = accepting => {}
        }
        state.end();
        let _ = tokio::time::timeout(ENDING, state.exchanges_ended()).await;
    }
}

/// Serves one client until it goes, is idle for too long, or has to make room.
async fn serve_connection(stream: TcpStream, entry: ConnectionEntry, state: Arc<ProxyState>) {
    let _ = stream.set_nodelay(true);
    let entry = Arc::new(entry);
    let service = service_fn(|request| {
        let (state, busy) = (state.clone(), BusyConnection::new(entry.clone()));
        async move {
            let answer = answer(state, request).await;
            // Until the last piece is gone.
            Ok::<_, Infallible>(answer.map(|body| {
                let held = move |frame| {
                    let _ = &busy;
                    frame
                };
                body.map_frame(held).boxed()
            }))
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(SILENCE_LIMIT).max_header_size(HEADERS);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = entry.close.notified() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "connection");
    }
}
