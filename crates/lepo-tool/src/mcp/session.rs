//! Starts a session with a server and lists its tools.

use std::time::{Duration, Instant};

use super::client::{CallFailure, ConnectMethod, ListKind, McpClient, ProcessSetup, TimeLimits};
use super::secrets::ServerSecrets;
use super::tools::ToolListing;
use crate::mcp::client::ServerTimeouts;
use crate::mcp::config::ServerConfig;

/// How long to wait for a sign of life from a server that may have exited.
const PROBE: Duration = Duration::from_secs(5);

pub(super) struct StartedSession {
    pub client: McpClient,
    pub listing: ToolListing,
}

impl StartedSession {
    /// Starts a server and lists its tools; connects by the `known` method if an earlier session did so.
    pub async fn open(
        config: &ServerConfig,
        setup: &ProcessSetup,
        patience: ServerTimeouts,
        secrets: &ServerSecrets,
        known: Option<ConnectMethod>,
    ) -> Result<StartedSession, CallFailure> {
        let start = Instant::now();
        let _starting = setup.starting.add(&config.name);
        tracing::debug!(server = config.name, "starting");
        let (connect, live) = (patience.connect, &secrets.live);
        let mut client = match known {
            Some(method) => McpClient::open_again(method, config, setup, connect, live).await?,
            None => McpClient::open(config, setup, connect, live).await?,
        };
        let (protocol, ms) = (client.protocol(), start.elapsed().as_millis() as u64);
        tracing::debug!(server = config.name, protocol, ms, "started");
        let remaining = patience.connect.saturating_sub(start.elapsed()).max(Duration::from_millis(1));
        match tokio::time::timeout(remaining, list(&mut client, patience)).await {
            Ok(Ok(listing)) => Ok(StartedSession { client, listing }),
            failed => {
                let failure = match failed {
                    Ok(Err(failure)) => client.explain(failure).await,
                    _ => CallFailure::Silent(patience.connect),
                };
                client.close().await;
                Err(failure)
            }
        }
    }
}

/// Lists all tools, page by page.
pub(super) async fn list(
    client: &mut McpClient,
    patience: ServerTimeouts,
) -> Result<ToolListing, CallFailure> {
    let (mut listing, mut cursor) = (ToolListing::default(), None);
    loop {
        let page = client
            .page(ListKind::Tools, cursor, TimeLimits { idle: patience.connect, total: patience.connect })
            .await?;
        cursor = listing.add_page(&page);
        if cursor.is_none() {
            return Ok(listing);
        }
    }
}

/// Whether the server still answers in this session.
pub(super) async fn is_responding(client: &mut McpClient) -> bool {
    let limits = TimeLimits { idle: PROBE, total: PROBE };
    // A restarted server refuses everything, because it does not know the session.
    client.page(ListKind::Tools, None, limits).await.is_ok()
}
