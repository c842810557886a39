//! The HTTP client of a sign-in. The library's own client follows registrations to other origins, accepts plain http,
//! and sends as many requests as metadata ask for. This one uses https only (http if everything is on this machine),
//! follows no redirects, and has a limit for everything.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oauth2::http;
use reqwest::{Client, redirect};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use serde_json::Value;
use url::{Host, Url};

use super::super::errors::{one_line, reqwest_text};
use lepo_net::address::is_loopback;
use lepo_net::fetch::redacted_url;
use lepo_net::public_address::{PublicResolver, is_public_host};

/// Time limit for a request.
const LIMIT: Duration = Duration::from_secs(30);

/// Time limit for opening a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Longest response body, in bytes.
const LONGEST: usize = 1 << 20;

/// Most requests of a sign-in or a refresh: metadata may name any number of URLs.
const MOST: usize = 40;

pub struct OAuthClient {
    server: Url,
    /// For the server's own host, and for every host if the server is private.
    near: Client,
    /// For other hosts; connects to public addresses only.
    far: Client,
    remaining: AtomicUsize,
    refusal: Mutex<Option<String>>,
}

impl OAuthClient {
    pub fn new(server: &Url) -> reqwest::Result<OAuthClient> {
        let builder = || {
            let builder = lepo_net::client::client()
                .connect_timeout(CONNECT)
                .timeout(LIMIT)
                .redirect(redirect::Policy::none())
                .pool_max_idle_per_host(0);
            match is_loopback(server) {
                true if server.scheme() == "http" => builder.no_proxy().tls_certs_only([]),
                true => builder.no_proxy(),
                false => builder,
            }
        };
        Ok(OAuthClient {
            server: server.clone(),
            near: builder().build()?,
            far: builder().dns_resolver(Arc::new(PublicResolver)).build()?,
            remaining: AtomicUsize::new(MOST),
            refusal: Mutex::default(),
        })
    }

    /// Returns the last failure: lepo's own, or the authorization server's `error` and `error_description` (RFC 6749).
    pub fn refusal(&self) -> Option<String> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks that an address may be fetched, or opened in a browser, for this server.
    pub fn check(&self, url: &Url) -> Result<(), String> {
        check(&self.server, url)
    }

    fn client(&self, url: &Url) -> &Client {
        let is_near = url.host() == self.server.host() || is_private(&self.server);
        if is_near { &self.near } else { &self.far }
    }

    async fn send(&self, request: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, String> {
        let spent =
            self.remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        spent.map_err(|_| format!("more than {MOST} requests would be needed, too many for a sign-in"))?;
        let words = |error: &reqwest::Error| reqwest_text(error);
        let request = reqwest::Request::try_from(request.request).map_err(|error| words(&error))?;
        let url = request.url().clone();
        self.check(&url)?;
        let mut response = self.client(&url).execute(request).await.map_err(|error| words(&error))?;
        let mut built = http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            built = built.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| words(&error))? {
            if body.len() + chunk.len() > LONGEST {
                return Err(format!("{} answered more than 1 MiB", redacted_url(&url)));
            }
            body.extend_from_slice(&chunk);
        }
        if response.status().is_redirection() && response.headers().contains_key("location") {
            self.note(format!("{} redirects, which is not followed", redacted_url(&url)));
        } else if !response.status().is_success() {
            refusal(&body).into_iter().for_each(|words| self.note(words));
        }
        built.body(body).map_err(|error| error.to_string())
    }

    fn note(&self, text: String) {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
}

impl OAuthHttpClient for OAuthClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            self.send(request).await.map_err(|words| {
                self.note(words.clone());
                Box::<dyn Error + Send + Sync>::from(words)
            })
        })
    }
}

/// Requires https, or http if the server and the address are on this machine. Rejects a private address unless the
/// server is private or has that host.
fn check(server: &Url, url: &Url) -> Result<(), String> {
    let here = is_loopback(server) && is_loopback(url);
    if !(url.scheme() == "https" || (url.scheme() == "http" && here)) {
        return Err(format!("{} is not https", redacted_url(url)));
    }
    let named = !url.username().is_empty() || url.password().is_some();
    if url.host().is_none() || named {
        return Err(format!("{} cannot be the address of a sign-in", redacted_url(url)));
    }
    let is_far = url.host() != server.host() && !is_private(server);
    if is_far && (is_loopback(url) || is_private(url)) {
        return Err(format!(
            "{} is a private address, and {} is not",
            redacted_url(url),
            redacted_url(server)
        ));
    }
    Ok(())
}

/// Whether an address is private as written, without resolving it.
fn is_private(url: &Url) -> bool {
    is_loopback(url)
        || matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_)))
            && !url.host().is_some_and(|host| is_public_host(&host))
}

fn refusal(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let text =
        |key: &str| answer.get(key).and_then(Value::as_str).map(one_line).filter(|text| !text.is_empty());
    let error = text("error")?;
    Some(match text("error_description") {
        Some(description) => format!("{error}: {description}"),
        None => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_no_way_from_outside_into_a_private_net() {
        for (server, url, ok) in [
            ("https://h/mcp", "https://auth.example/token", true),
            ("https://h/mcp", "http://auth.example/token", false),
            ("https://h/mcp", "http://h/token", false),
            ("https://h/mcp", "http://127.0.0.1/token", false),
            ("https://h/mcp", "https://127.0.0.1/token", false),
            ("https://h/mcp", "https://localhost/token", false),
            ("https://h/mcp", "https://10.0.0.9/token", false),
            ("https://h/mcp", "https://169.254.169.254/latest", false),
            ("https://h/mcp", "https://[fd00::1]/token", false),
            ("https://h/mcp", "https://u:p@auth.example/token", false),
            ("https://h/mcp", "javascript:alert(1)", false),
            ("https://h/mcp", "file:///etc/passwd", false),
            ("http://h/mcp", "http://h/token", false),
            ("https://10.0.0.1/mcp", "https://10.0.0.9/token", true),
            ("http://127.0.0.1:8/mcp", "http://127.0.0.1:9/token", true),
            ("http://localhost:8/mcp", "http://127.0.0.1:9/token", true),
            ("http://127.0.0.1:8/mcp", "http://auth.example/token", false),
            ("http://127.0.0.1:8/mcp", "https://auth.example/token", true),
        ] {
            let parsed = |text: &str| Url::parse(text).unwrap();
            assert_eq!(check(&parsed(server), &parsed(url)).is_ok(), ok, "{server} {url}");
        }
    }

    #[test]
    fn a_refusal_is_told_in_one_line() {
        for (body, words) in [
            (r#"{"error":"invalid_grant"}"#, Some("invalid_grant")),
            (r#"{"error":"a","error_description":"b\n\u001b[2Jc"}"#, Some("a: b [2Jc")),
            (r#"{"error":3}"#, None),
            ("<html>", None),
        ] {
            assert_eq!(refusal(body.as_bytes()).as_deref(), words, "{body}");
        }
    }
}
