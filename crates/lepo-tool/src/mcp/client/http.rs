//! Remote servers: the HTTP client for both transports, and streamable HTTP. Headers and session go to the configured
//! origin only.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, redirect};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use url::Url;

use super::auth::AuthorizedClient;
use lepo_base::secret::Secret;
use lepo_net::address::{is_loopback, needs_certificates};

/// Most redirects of a request.
const REDIRECTS: usize = 5;

/// Time limit for opening a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Creates a client for the server at `url`. With `follow`, it follows those redirects within the origin that preserve
/// the body.
pub fn client(url: &Url, follow: bool) -> reqwest::Result<Client> {
    let policy = redirect::Policy::custom(move |attempt| {
        let keeps_body = matches!(attempt.status().as_u16(), 307 | 308);
        let home = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        if follow && keeps_body && home && attempt.previous().len() <= REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    let mut builder = lepo_net::client::client()
        .connect_timeout(CONNECT)
        .redirect(policy)
        .tcp_nodelay(true)
        // Reusing a connection whose last body was not read to its end stalls for 40 ms.
        .pool_max_idle_per_host(0);
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    if !needs_certificates(url) {
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

/// Returns the headers of every request. Names and values are checked when the configuration is read.
pub fn headers(entries: &[(String, Secret)]) -> HeaderMap {
    let header = |(name, value): &(String, Secret)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let mut value = HeaderValue::from_str(value.reveal()).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    entries.iter().filter_map(header).collect()
}

/// Creates a streamable HTTP transport. A session that the server no longer knows is reopened, once.
pub fn streamable(
    client: AuthorizedClient,
    url: &Url,
    entries: &[(String, Secret)],
) -> StreamableHttpClientTransport<AuthorizedClient> {
    let custom: HashMap<HeaderName, HeaderValue> =
        headers(entries).into_iter().filter_map(|(name, value)| Some((name?, value))).collect();
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).custom_headers(custom);
    // Without a limit, retries for a server that died during a call would last until the call's time is over.
    let mut retry = ExponentialBackoff::default();
    retry.max_times = Some(2);
    retry.base_duration = Duration::from_millis(300);
    retry.max_delay = Some(Duration::from_secs(5));
    config.retry_config = Arc::new(retry);
    StreamableHttpClientTransport::with_client(client, config)
}
