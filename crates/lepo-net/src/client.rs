//! HTTP clients: their common configuration, and the streams they read. TLS uses ring; the system resolves names in
//! separate threads.

mod stream;

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder};
use url::Url;

use crate::address::{is_loopback, needs_certificates};
use crate::runtime::blocking;

pub use stream::{LIMIT, LineSplitter, SseEvent, SseFrame, SseParser};

/// Creates a client builder with lepo's user agent.
pub fn client() -> ClientBuilder {
    // An error means that an earlier call installed a provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("lepo/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(Arc::new(SystemResolver))
}

/// Creates a client builder for requests to the origin of a URL: without a proxy to this machine, and without the system's
/// certificates where no connection needs them, because to read them takes longer than an exchange on loopback.
pub fn client_for(url: &Url) -> ClientBuilder {
    let mut builder = client();
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    if !needs_certificates(url) {
        builder = builder.tls_certs_only([]);
    }
    builder
}

/// Resolves a host name with the system's resolver. The ports are 0.
pub async fn addresses(name: &Name) -> std::io::Result<std::vec::IntoIter<SocketAddr>> {
    let name = name.as_str().to_string();
    blocking(move || (name, 0).to_socket_addrs()).await?
}

/// The system's resolver.
struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move { Ok(Box::new(addresses(&name).await?) as Addrs) })
    }
}
