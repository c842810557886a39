//! Explains a proxy that refuses a connection, by its address and its status.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::base_path::redacted_url;
use lepo_base::env;
use lepo_base::error::Error;

/// Variables that name the proxy for a URL; the first one set counts.
const HTTPS: &[&str] = &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const HTTP: &[&str] = &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Most bytes of the first line of an answer.
const LINE: usize = 256;

/// Returns the error for a proxy that refused to connect to `endpoint`; `None` if `why` does not concern a proxy.
pub(super) async fn refused_by_proxy(endpoint: &Url, why: &str, patience: Duration) -> Option<Error> {
    let why = why.to_lowercase();
    let is_of_proxy = ["tunnel", "proxy", "unsuccessful"].iter().any(|word| why.contains(word));
    let proxy = proxy_of(endpoint).filter(|_| is_of_proxy)?;
    let status = timeout(patience, connect_status(&proxy, endpoint)).await.ok().flatten();
    let status = match status {
        Some(status) => format!("answered {status} to CONNECT"),
        None => format!("did not connect: {why}"),
    };
    let host = endpoint.host_str().unwrap_or_default();
    Some(Error::remote(format!("the proxy {} {status}, so {host} cannot be reached", redacted_url(&proxy))).hint(
        "HTTPS_PROXY names the proxy, with user and password if it wants them; NO_PROXY names the hosts that need none",
    ))
}

/// Returns the proxy for a URL, from the environment.
pub(super) fn proxy_of(endpoint: &Url) -> Option<Url> {
    let names = if endpoint.scheme() == "https" { HTTPS } else { HTTP };
    let named = names.iter().find_map(|name| env::text(name).filter(|value| !value.trim().is_empty()))?;
    let named = named.trim();
    let url = if named.contains("://") { named.to_owned() } else { format!("http://{named}") };
    Url::parse(&url).ok()
}

/// Returns the status line that a proxy sends for CONNECT, without the HTTP version.
async fn connect_status(proxy: &Url, endpoint: &Url) -> Option<String> {
    if proxy.scheme() != "http" {
        return None;
    }
    let to = format!("{}:{}", endpoint.host_str()?, endpoint.port_or_known_default()?);
    let mut stream = TcpStream::connect((proxy.host_str()?, proxy.port_or_known_default()?)).await.ok()?;
    let auth = match (proxy.username(), proxy.password()) {
        ("", None) => String::new(),
        (user, password) => {
            let credentials = STANDARD.encode(format!("{user}:{}", password.unwrap_or_default()));
            format!("Proxy-Authorization: Basic {credentials}\r\n")
        }
    };
    let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{auth}\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut line = Vec::new();
    while line.len() < LINE && !line.contains(&b'\n') {
        if stream.read_buf(&mut line).await.ok()? == 0 {
            break;
        }
    }
    let line = String::from_utf8_lossy(&line);
    let (_, status) = line.lines().next()?.split_once(' ')?;
    Some(status.trim().to_owned()).filter(|status| !status.is_empty())
}
