//! The HTTP client of one model: its endpoint, its requests and its errors. The key is sent only to the configured
//! origin; no error message contains the key or the query of a URL.

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Body, Client, Method, RequestBuilder, Response, StatusCode, Url, redirect};
use serde_json::Value;
use tokio::time::sleep;
use tokio_stream::wrappers::ReceiverStream;

use super::base_path::{intended_url, redacted_url};
use super::config::Timeouts;
use super::gate::{Gate, GateLayer};
use super::headers::headers;
use super::payload::Payload;
use super::provider_spec::HttpSpec;
use super::proxy::refused_by_proxy;
use crate::ModelConfig;
use lepo_base::error::{Error, Result, cause};

/// Bodies up to this size in bytes are serialised at once, longer ones while they are sent.
const SHORT: usize = 256 << 10;

/// The maximum number of redirects.
const REDIRECTS: usize = 5;

/// A client for one endpoint of one model.
pub(super) struct EndpointClient {
    client: Client,
    pub base: Url,
    endpoint: Url,
    headers: HeaderMap,
    gate: Gate,
    connected: bool,
    /// The endpoint under `base_url`, once it was replaced by the intended one.
    given_up: Option<Url>,
    /// The model's URL for messages: `base_url` without query and user.
    pub url: String,
    pub timeouts: Timeouts,
}

/// A request without a response.
struct SendError {
    /// Whether the server closed the connection without a response.
    closed: bool,
    error: Error,
}

impl EndpointClient {
    /// Creates a client of `api` under the model's `base_url`, without a connection.
    pub fn new(config: &ModelConfig, api: &HttpSpec, timeouts: Timeouts, gate: Gate) -> Result<Self> {
        let base = address(&config.base_url, &config.name)?;
        let url = redacted_url(&base);
        let endpoint = under(&base, api.path);
        let builder = lepo_net::client::client_for(&endpoint)
            .redirect(redirect::Policy::none())
            .http1_only()
            .tcp_nodelay(true)
            .connector_layer(GateLayer { gate: gate.clone(), limit: timeouts.connect });
        let client = builder.build().map_err(|e| {
            Error::remote(format!("cannot prepare a connection to {url}: {}", cause(&e.without_url())))
        })?;
        let headers = headers(&config.key, api)?;
        Ok(EndpointClient {
            client,
            base,
            endpoint,
            headers,
            gate,
            connected: false,
            given_up: None,
            url,
            timeouts,
        })
    }

    /// Switches to the URL that `base_url` obviously should have been, within its origin, and returns it; `None` if
    /// that is ambiguous or was tried before.
    pub fn go_to_meant(&mut self, path: &[&str]) -> Option<String> {
        let right = intended_url(&self.base, path).filter(|_| self.given_up.is_none())?;
        self.given_up = Some(std::mem::replace(&mut self.endpoint, under(&right, path)));
        Some(redacted_url(&right))
    }

    /// Switches back after a failure there, and returns the error, which names the URL.
    pub fn back_from_meant(&mut self, error: Error) -> Error {
        if let Some(own) = self.given_up.clone() {
            self.endpoint = own;
        }
        error
    }

    /// Posts a JSON body and returns the response, whatever its status.
    ///
    /// The connection opens immediately; the request is sent when the gate is open. Redirects (301, 302, 307, 308)
    /// are followed with the same body, within the origin only.
    pub async fn post(&mut self, body: Payload) -> Result<Response> {
        if self.connected {
            // A connection from the pool does not pass through the connector, which contains the gate.
            self.gate.wait_open().await;
        }
        let mut url = self.endpoint.clone();
        for _ in 0..=REDIRECTS {
            let mut sent = self.send(url.clone(), body.clone()).await;
            if self.connected && matches!(sent, Err(SendError { closed: true, .. })) {
                // The server closed the pooled connection while the request was on its way.
                sent = self.send(url.clone(), body.clone()).await;
            }
            let response = sent.map_err(|unanswered| unanswered.error)?;
            self.connected = true;
            let Some(location) = redirection(&response) else { return Ok(response) };
            let target = url.join(&location).map_err(|_| self.misdirected(response.status(), "nowhere"))?;
            if target.origin() != url.origin() {
                return Err(self.misdirected(response.status(), &redacted_url(&target)));
            }
            url = target;
        }
        Err(Error::remote(format!("{} redirects in a loop", self.url)).hint("check `base_url`"))
    }

    async fn send(&self, url: Url, body: Payload) -> std::result::Result<Response, SendError> {
        let mut request = self.client.post(url).header(CONTENT_TYPE, "application/json");
        request = match body.length() {
            ..=SHORT if !body.has_files() => request.body(body.to_vec()),
            length => {
                let ahead = if body.has_files() { body.chunks_ahead() } else { None };
                let chunks = match ahead {
                    Some(chunks) => Body::wrap_stream(ReceiverStream::new(chunks)),
                    None => Body::wrap_stream(tokio_stream::iter(body.chunks())),
                };
                request.header(CONTENT_LENGTH, length).body(chunks)
            }
        };
        self.respond(request).await
    }

    /// Requests facts from the server at another path than that for questions. Follows no redirect.
    pub async fn query(
        &mut self,
        method: Method,
        path: &[&str],
        query: &[(&str, String)],
        body: Option<Value>,
    ) -> Result<Response> {
        let mut url = under(&self.base, path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.query_url(method, url, body).await
    }

    /// Requests facts from the server at a path from its root.
    pub async fn query_root(&mut self, path: &[&str]) -> Result<Response> {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.clear().extend(path);
        }
        self.query_url(Method::GET, url, None).await
    }

    async fn query_url(&mut self, method: Method, url: Url, body: Option<Value>) -> Result<Response> {
        if self.connected {
            self.gate.wait_open().await;
        }
        let mut request = self.client.request(method, url);
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let response = self.respond(request).await.map_err(|unanswered| unanswered.error)?;
        self.connected = true;
        Ok(response)
    }

    /// Sends a request and waits for its response, within the idle timeout.
    async fn respond(&self, request: RequestBuilder) -> std::result::Result<Response, SendError> {
        let request = request.headers(self.headers.clone());
        // Connecting has its own limit, and the wait at the gate has none.
        let silence = async {
            self.gate.wait_open().await;
            sleep(self.timeouts.idle).await;
        };
        tokio::select! {
            answered = request.send() => match answered {
                Ok(response) => Ok(response),
                Err(error) => Err(SendError {
                    closed: error.is_request() && !error.is_connect() && !error.is_timeout(),
                    error: self.failed(error.without_url()).await,
                }),
            },
            () = silence => Err(SendError { closed: false, error: self.silent() }),
        }
    }

    pub fn silent(&self) -> Error {
        silent(&self.url, self.timeouts)
    }

    async fn failed(&self, error: reqwest::Error) -> Error {
        let why = cause(&error);
        if error.is_connect() {
            if let Some(refused) = refused_by_proxy(&self.endpoint, &why, self.timeouts.connect).await {
                return refused;
            }
            let unreachable = Error::remote(format!("cannot reach {}: {why}", self.url));
            let unreachable = unreachable.hint(if is_about_certificate(&why) {
                "certificates are checked against those of the system; SSL_CERT_FILE names a file of others, such as a \
                 company's"
            } else if why.contains("lookup") {
                "check that there is a network, and the name of the server in `base_url`"
            } else {
                "check that the server is running and that `base_url` is right"
            });
            return match is_refusal(&error) {
                true => unreachable.of_refused_connection(),
                false => unreachable,
            };
        }
        Error::remote(format!("no answer from {}: {why}", self.url)).ask_again()
    }

    fn misdirected(&self, status: StatusCode, target: &str) -> Error {
        Error::remote(format!(
            "{} answered {} and redirects to {target}, which is not followed",
            self.url,
            status.as_u16()
        ))
        .hint("if you trust that address, make it the `base_url`: a key is sent only where it is configured")
    }
}

/// Whether nothing listens at the address.
fn is_refusal(error: &reqwest::Error) -> bool {
    let first: &(dyn std::error::Error + 'static) = error;
    let mut causes = std::iter::successors(Some(first), |error| error.source());
    causes.any(|error| {
        let io = error.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused)
    })
}

fn is_about_certificate(why: &str) -> bool {
    let why = why.to_lowercase();
    ["certificate", "unknownissuer", "unknown issuer", "notvalidforname"]
        .iter()
        .any(|word| why.contains(word))
}

/// Returns the error for the idle timeout of a model.
pub(super) fn silent(url: &str, timeouts: Timeouts) -> Error {
    Error::remote(format!("no data from {url} for {} s", timeouts.idle.as_secs_f32()))
        .hint("for a slow model raise http.idle_timeout")
}

fn address(base_url: &str, model: &str) -> Result<Url> {
    let wrong = || {
        Error::usage(format!("the `base_url` of model \"{model}\" is not a web address"))
            .hint("it looks like http://localhost:11434 or https://api.openai.com/v1")
    };
    let url = Url::parse(base_url).map_err(|_| wrong())?;
    if matches!(url.scheme(), "http" | "https") && url.has_host() { Ok(url) } else { Err(wrong()) }
}

/// Returns the URL of a model for messages; `None` if it is invalid.
pub(super) fn display_url(config: &ModelConfig) -> Option<String> {
    address(&config.base_url, &config.name).ok().map(|base| redacted_url(&base))
}

/// Appends a path to a base URL, without a second `v1`.
fn under(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    let ends_with_version =
        base.path_segments().and_then(|mut segments| segments.next_back()) == path.first().copied();
    let path = path.get(usize::from(ends_with_version)..).unwrap_or_default();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

fn redirection(response: &Response) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 307 | 308) {
        return None;
    }
    Some(response.headers().get(LOCATION)?.to_str().ok()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_secrets() {
        for (url, expected) in [
            ("http://127.0.0.1:80/v1/?key=sk-1#x", "http://127.0.0.1/v1"),
            ("https://me:pw@example.com:8443/a/b", "https://example.com:8443/a/b"),
            ("http://[::1]:11434", "http://[::1]:11434"),
        ] {
            assert_eq!(redacted_url(&Url::parse(url).unwrap()), expected);
        }
        for wrong in ["", "localhost:11434", "ftp://x", "http://"] {
            let error = address(wrong, "m").unwrap_err();
            assert_eq!(error.kind, lepo_base::error::ExitKind::Usage, "{wrong}");
        }
    }
}
