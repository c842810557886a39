//! HTTP with server-sent events, the transport of the protocol's first revision (2024-11-05): one long GET delivers
//! messages, after an event that names the URL to POST to. The library dropped it; servers did not.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Client, Response};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use url::Url;

use super::auth::{Bearer, TokenError};
use super::errors::reqwest_text;
use super::message::{InitializeId, ServerLine, error_without_id, read};
use super::{CallFailure, SignInNeeded};
use lepo_net::client::{SseEvent, SseFrame, SseParser};

/// Time limit for delivering a message.
const POST: Duration = Duration::from_secs(30);

pub struct SseTransport {
    client: Client,
    endpoint: Url,
    headers: HeaderMap,
    messages: mpsc::Receiver<ServerJsonRpcMessage>,
    reading: JoinHandle<()>,
    initialize: InitializeId,
}

impl SseTransport {
    /// Opens the stream with the token of a sign-in, if there is one, and retries once with a new token if it is
    /// refused.
    pub async fn open_signed(
        client: Client,
        url: &Url,
        headers: HeaderMap,
        bearer: Option<Bearer>,
        is_certain: bool,
    ) -> Result<SseTransport, CallFailure> {
        let mut refused = None;
        loop {
            let token = match &bearer {
                Some(bearer) => bearer.token(refused.as_deref()).await.map_err(no_token)?,
                None => None,
            };
            let mut headers = headers.clone();
            if let Some(token) = &token
                && let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {token}"))
            {
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
            match SseTransport::open(client.clone(), url, headers, is_certain).await {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    if token.is_none() || refused.is_some() {
                        let reason = "it requires a sign-in (HTTP 401)".to_string();
                        let challenge = Some(error.to_string());
                        return Err(CallFailure::SignIn(SignInNeeded {
                            reason,
                            challenge,
                            ..SignInNeeded::default()
                        }));
                    }
                    refused = token;
                }
                opened => return opened.map_err(|error| CallFailure::Lost(error.to_string())),
            }
        }
    }

    /// Opens the stream, and waits for the event that names the URL to POST to, which must have the stream's origin.
    async fn open(
        client: Client,
        url: &Url,
        headers: HeaderMap,
        is_certain: bool,
    ) -> io::Result<SseTransport> {
        let request = client.get(url.clone()).headers(headers.clone()).header(ACCEPT, "text/event-stream");
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        if status.as_u16() == 401 {
            let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                challenge.unwrap_or("Bearer").to_string(),
            ));
        }
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !status.is_success() || !kind.starts_with("text/event-stream") {
            let what = if status.is_redirection() { ", and redirects are not followed" } else { "" };
            let what = if status.is_success() { ", but no stream of events" } else { what };
            let what = match status.as_u16() {
                400 | 404 | 405 | 406 if is_certain => {
                    "; if it speaks streamable HTTP, its `transport` is \"http\""
                }
                _ => what,
            };
            return Err(io::Error::other(format!("it answered HTTP {}{what}", status.as_u16())));
        }
        let mut events = EventStream { response, sse: SseParser::default(), read: VecDeque::new() };
        let endpoint = loop {
            let event = events.next().await.map_err(|()| io::Error::other("its stream was interrupted"))?;
            let (name, data) = event.ok_or_else(|| io::Error::other("its stream ended at once"))?;
            if name == b"endpoint" {
                let endpoint = String::from_utf8_lossy(&data);
                break url
                    .join(endpoint.trim())
                    .map_err(|_| io::Error::other("it gave no address to send messages to"))?;
            }
        };
        if endpoint.origin() != url.origin() {
            return Err(io::Error::other("it wants messages sent to another origin, which is not allowed"));
        }
        let (sender, messages) = mpsc::channel(64);
        let initialize = InitializeId::default();
        let sent = initialize.clone();
        let reading = tokio::spawn(async move {
            while let Ok(Some((name, data))) = events.next().await {
                let is_message = name.is_empty() || name == b"message";
                let ServerLine::Messages(found) = read(if is_message { &data } else { b"" }, &sent) else {
                    continue;
                };
                for message in found {
                    if sender.send(message).await.is_err() {
                        return;
                    }
                }
            }
            let _ = sender.send(error_without_id("the server closed its stream of events")).await;
        });
        Ok(SseTransport { client, endpoint, headers, messages, reading, initialize })
    }
}

fn no_token(why: TokenError) -> CallFailure {
    match why {
        TokenError::Over(reason) => {
            CallFailure::SignIn(SignInNeeded { reason, has_expired: true, ..SignInNeeded::default() })
        }
        TokenError::Failed(reason) => CallFailure::Lost(reason),
    }
}

struct EventStream {
    response: Response,
    sse: SseParser,
    read: VecDeque<(Vec<u8>, Vec<u8>)>,
}

impl EventStream {
    /// Returns the name and data of the next event; `None` at the end of the stream. Fails if the stream breaks off or
    /// an event is too long.
    async fn next(&mut self) -> Result<Option<(Vec<u8>, Vec<u8>)>, ()> {
        while self.read.is_empty() {
            let Some(piece) = self.response.chunk().await.map_err(drop)? else { return Ok(None) };
            let fed = self.sse.feed(&piece, |frame| {
                if let SseFrame::Event(SseEvent { name, data }) = frame {
                    self.read.push_back((name.to_vec(), data.to_vec()));
                }
                Ok(())
            });
            fed.map_err(drop)?;
        }
        Ok(self.read.pop_front())
    }
}

fn failed(error: reqwest::Error) -> io::Error {
    io::Error::other(reqwest_text(&error))
}

impl Transport<RoleClient> for SseTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.initialize.record(&message);
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone()).timeout(POST);
        async move {
            let body = serde_json::to_vec(&message)?;
            let response = request.header(CONTENT_TYPE, "application/json").body(body).send().await;
            let status = response.map_err(failed)?.status();
            match status.is_success() {
                true => Ok(()),
                false => Err(io::Error::other(format!("it answered HTTP {}", status.as_u16()))),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.reading.abort();
        Ok(())
    }
}

impl Drop for SseTransport {
    fn drop(&mut self) {
        self.reading.abort();
    }
}
