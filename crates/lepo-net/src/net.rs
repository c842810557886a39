//! HTTP clients: how each one begins, and the streams they read. TLS is ring's, names are resolved by the system in
//! threads of their own.

mod stream;

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder};

use crate::runtime::blocking;

pub use stream::{Frame, LIMIT, Lines, Sse, SseEvent};

/// A client in the making, which says that it is lepo.
pub fn client() -> ClientBuilder {
    // An error means that a provider is installed already, by an earlier call.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().user_agent(concat!("lepo/", env!("CARGO_PKG_VERSION"))).dns_resolver(Arc::new(System))
}

/// The addresses of a host, as the system resolves its name. Their ports are 0.
pub async fn addresses(name: &Name) -> std::io::Result<std::vec::IntoIter<SocketAddr>> {
    let name = name.as_str().to_string();
    blocking(move || (name, 0).to_socket_addrs()).await?
}

/// Resolves names as the system does.
struct System;

impl Resolve for System {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move { Ok(Box::new(addresses(&name).await?) as Addrs) })
    }
}
