//! Lets one request in, reads, routes and records it, and sends it.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, HeaderMap, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode};
use lepo_net::runtime::blocking;
use tokio::sync::oneshot;

use super::cassette_door::CassetteDoor;
use super::door::check_access;
use super::exchange::{AnswerBody, KeptRequest, PreparedRequest, refused_answer, run_exchange};
use super::headers::passed_request_headers;
use super::refusal::ProxyRefusal;
use super::request_body::{read_body, with_model};
use super::state::{ProxyEvent, ProxyState};
use super::token::{ClientKey, replace_key};
use super::upstream::{Destination, DestinationKey, RoutedRequest};
use crate::request::ProxyRequest;
use crate::wire::ProxyWire;

/// Answers a request; an answer of a server begins before it is whole.
pub async fn answer(state: Arc<ProxyState>, request: Request<Incoming>) -> Response<AnswerBody> {
    let path = request.uri().path().to_string();
    let wire = ProxyWire::from_path(&path).filter(|_| *request.method() == Method::POST);
    match pass_on(&state, request, wire).await {
        Ok(answer) => answer,
        Err(refusal) => {
            let (status, message) = (refusal.status.as_u16(), refusal.message.clone());
            state.report(ProxyEvent::Refused { path, status, message });
            refused_answer(&refusal, wire)
        }
    }
}

async fn pass_on(
    state: &Arc<ProxyState>,
    request: Request<Incoming>,
    wire: Option<ProxyWire>,
) -> Result<Response<AnswerBody>, ProxyRefusal> {
    let start = Instant::now();
    check_access(request.headers(), state.port)?;
    let (head, body) = request.into_parts();
    let body = read_body(body).await?;
    let incoming = IncomingRequest {
        method: head.method,
        path: head.uri.path().to_string(),
        query: head.uri.query().map(str::to_string),
        headers: head.headers,
        body,
        wire,
    };
    let shared = state.clone();
    let prepared = blocking(move || incoming.prepare(&shared, start)).await;
    let internal =
        |error: std::io::Error| ProxyRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
    let prepared = match prepared.map_err(internal)?? {
        NextStep::Send(prepared) => *prepared,
        NextStep::Answer(answer) => return Ok(*answer),
    };
    let (client, answer) = oneshot::channel();
    state.spawn(run_exchange(state.clone(), prepared, client));
    answer.await.map_err(|_| ProxyRefusal::new(StatusCode::BAD_GATEWAY, "the proxy is stopping"))
}

/// The next step of a request.
enum NextStep {
    Send(Box<PreparedRequest>),
    /// The proxy answers without a server.
    Answer(Box<Response<AnswerBody>>),
}

/// A complete request as received.
struct IncomingRequest {
    method: Method,
    path: String,
    query: Option<String>,
    headers: HeaderMap,
    body: Bytes,
    wire: Option<ProxyWire>,
}

impl IncomingRequest {
    /// Answers the request from the store, if it is recorded there; else routes it, and writes its new messages, durably,
    /// before it is sent.
    fn prepare(self, state: &ProxyState, start: Instant) -> Result<NextStep, ProxyRefusal> {
        let read = self.wire.map(|wire| ProxyRequest::read(wire, &self.path, &self.body));
        if let Some(cassette) = &state.cassette {
            let lookup = CassetteDoor { state, cassette, path: &self.path, start };
            let answer = match (&read, self.wire) {
                (Some(Ok(request)), _) => lookup.answer(request)?,
                (Some(Err(unreadable)), wire) => lookup.refuse_unreadable(*unreadable, wire),
                (None, _) => lookup.answer_other(&self.method, &self.headers),
            };
            if let Some(answer) = answer {
                return Ok(NextStep::Answer(Box::new(answer)));
            }
        }
        let request = match read {
            None => {
                state.report_passed_on(self.method.as_str(), &self.path);
                None
            }
            Some(Ok(request)) => Some(request),
            Some(Err(unreadable)) => {
                state.report(ProxyEvent::NotKept { path: self.path.clone(), reason: unreadable.to_string() });
                None
            }
        };
        let client_key = ClientKey::find(&self.headers, &state.token);
        let to = state.upstreams.choose(&RoutedRequest {
            wire: self.wire,
            model: request.as_ref().map(ProxyRequest::model),
            path: &self.path,
            query: self.query.as_deref(),
            headers: &self.headers,
            client_key,
        })?;
        let client = state
            .client(&to.url)
            .map_err(|error| ProxyRefusal::new(StatusCode::BAD_GATEWAY, error.chain()))?;
        let stored = request.map(|request| self.start_recording(state, request)).transpose()?;
        let (headers, body) = self.outgoing(&to);
        let prepared = PreparedRequest { client, method: self.method, headers, body, to, start, stored };
        Ok(NextStep::Send(Box::new(prepared)))
    }

    fn start_recording(
        &self,
        state: &ProxyState,
        request: ProxyRequest,
    ) -> Result<KeptRequest, ProxyRefusal> {
        let agent = self.headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
        let client = agent.and_then(|agent| agent.split_whitespace().next());
        // As for a question of `do`: a request that cannot be written is not sent.
        let recording = state.recorder.record(&request, client).map_err(|error| {
            ProxyRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("not sent: {}", error.chain()))
        })?;
        Ok(KeptRequest { request, recording })
    }

    fn outgoing(&self, to: &Destination) -> (HeaderMap, Bytes) {
        let mut headers = passed_request_headers(&self.headers);
        if let DestinationKey::Lepo(key) = &to.key {
            replace_key(&mut headers, key.as_ref());
        }
        let body = match &to.model {
            Some(model) => with_model(self.body.clone(), model),
            None => self.body.clone(),
        };
        // Without a body a length is sent only where the client sent one.
        if body.is_empty() && self.headers.contains_key(CONTENT_LENGTH) {
            headers.insert(CONTENT_LENGTH, 0.into());
        }
        (headers, body)
    }
}
