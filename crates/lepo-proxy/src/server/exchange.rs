//! An exchange: sends the request, passes the answer back piece for piece, and records both.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Response, StatusCode};
use reqwest::{Client, Response as UpstreamResponse};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

use super::headers::passed_answer_headers;
use super::refusal::ProxyRefusal;
use super::state::{ExchangeFacts, ProxyEvent, ProxyState};
use super::upstream::Destination;
use crate::recording::{ExchangeEnd, ProxyRecording, RecordedExchange};
use crate::request::ProxyRequest;
use crate::wire::ProxyWire;
use lepo_base::error::cause;
use lepo_net::runtime::blocking;

/// The body of an answer to a client.
pub type AnswerBody = BoxBody<Bytes, std::io::Error>;

/// Pieces of an answer that wait for the client at most.
const PIECES: usize = 16;

/// A request, ready to be sent.
pub struct PreparedRequest {
    pub client: Client,
    pub method: Method,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub to: Destination,
    pub start: Instant,
    /// `None` for a request that is only passed on.
    pub stored: Option<KeptRequest>,
}

/// A request with its recording.
pub struct KeptRequest {
    pub request: ProxyRequest,
    pub recording: ProxyRecording,
}

/// Returns a body of these bytes.
pub fn whole_body(bytes: impl Into<Bytes>) -> AnswerBody {
    Full::new(bytes.into()).map_err(|never: Infallible| match never {}).boxed()
}

/// Returns the proxy's own answer to a refused request.
pub fn refused_answer(refusal: &ProxyRefusal, wire: Option<ProxyWire>) -> Response<AnswerBody> {
    let mut answer = Response::new(whole_body(refusal.body(wire).to_string()));
    *answer.status_mut() = refusal.status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// Sends a request, and passes the answer to `client` piece for piece. When the client leaves or the proxy ends, the
/// request is cut.
pub async fn run_exchange(
    state: Arc<ProxyState>,
    prepared: PreparedRequest,
    mut client: oneshot::Sender<Response<AnswerBody>>,
) {
    let mut pump =
        AnswerPump { state: state.clone(), start: prepared.start, stored: prepared.stored, fault: None };
    let request = prepared.client.request(prepared.method, prepared.to.url.clone());
    let sending = request.headers(prepared.headers).body(prepared.body).send();
    let sent = tokio::select! {
        sent = sending => sent,
        () = client.closed() => return pump.end(0, ExchangeEnd::Cut).await,
        () = state.wait_until_ended() => return pump.end(0, ExchangeEnd::Cut).await,
    };
    let upstream = match sent {
        Ok(upstream) => upstream,
        Err(error) => {
            let message = format!("cannot reach {}: {}", prepared.to.base, cause(&error.without_url()));
            let refusal = ProxyRefusal::new(StatusCode::BAD_GATEWAY, message);
            let wire = pump.wire();
            pump.fault = Some(refusal.message.clone());
            pump.end(refusal.status.as_u16(), ExchangeEnd::Failed).await;
            let _ = client.send(refused_answer(&refusal, wire));
            return;
        }
    };
    let status = upstream.status();
    let headers = passed_answer_headers(upstream.headers(), &prepared.to.base, &state.address());
    let (pieces, body) = mpsc::channel::<std::io::Result<Frame<Bytes>>>(PIECES);
    let mut answer = Response::new(BodyExt::boxed(StreamBody::new(ReceiverStream::new(body))));
    (*answer.status_mut(), *answer.headers_mut()) = (status, headers);
    if client.send(answer).is_err() {
        return pump.end(status.as_u16(), ExchangeEnd::Cut).await;
    }
    pump.start_answer(&upstream);
    pump.pass_on(upstream, pieces).await;
}

/// Passes an answer on, and records it.
struct AnswerPump {
    state: Arc<ProxyState>,
    start: Instant,
    stored: Option<KeptRequest>,
    /// The error of a failed write.
    fault: Option<String>,
}

impl AnswerPump {
    fn wire(&self) -> Option<ProxyWire> {
        self.stored.as_ref().map(|kept| kept.request.wire())
    }

    fn start_answer(&mut self, upstream: &UpstreamResponse) {
        let text = |name| upstream.headers().get(name).and_then(|value| value.to_str().ok());
        if let Some(kept) = &mut self.stored {
            let status = upstream.status().as_u16();
            kept.recording.start_answer(status, text(CONTENT_TYPE), text(CONTENT_ENCODING));
        }
    }

    /// Passes pieces on until the answer, the client or the proxy ends. The store has the answer before the
    /// client can know its end: the next request begins with it.
    async fn pass_on(
        mut self,
        mut upstream: UpstreamResponse,
        pieces: mpsc::Sender<std::io::Result<Frame<Bytes>>>,
    ) {
        let status = upstream.status().as_u16();
        let length = upstream.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let mut left = length.and_then(|length| length.parse::<u64>().ok());
        if left == Some(0) {
            self.end(status, ExchangeEnd::Whole).await;
        }
        let state = self.state.clone();
        loop {
            let piece = tokio::select! {
                piece = upstream.chunk() => piece,
                () = pieces.closed() => {
                    drop(upstream);
                    return self.end(status, ExchangeEnd::Cut).await;
                }
                () = state.wait_until_ended() => {
                    drop(upstream);
                    self.end(status, ExchangeEnd::Cut).await;
                    let _ = pieces.try_send(Err(std::io::Error::other("the proxy is stopping")));
                    return;
                }
            };
            match piece {
                Ok(Some(piece)) => {
                    left = left.map(|left| left.saturating_sub(piece.len() as u64));
                    self.record(&piece);
                    let has_ended = self.stored.as_ref().is_some_and(|kept| kept.recording.has_ended());
                    if has_ended || left == Some(0) {
                        self.end(status, ExchangeEnd::Whole).await;
                    }
                    let is_sent = tokio::select! {
                        sent = pieces.send(Ok(Frame::data(piece))) => sent.is_ok(),
                        () = state.wait_until_ended() => false,
                    };
                    if !is_sent {
                        drop(upstream);
                        return self.end(status, ExchangeEnd::Cut).await;
                    }
                }
                Ok(None) => return self.end(status, ExchangeEnd::Whole).await,
                Err(error) => {
                    self.end(status, ExchangeEnd::Failed).await;
                    // The client sees the connection break, as it would without the proxy.
                    let broken = std::io::Error::other(cause(&error.without_url()));
                    let _ = pieces.send(Err(broken)).await;
                    return;
                }
            }
        }
    }

    fn record(&mut self, piece: &[u8]) {
        let Some(kept) = &mut self.stored else { return };
        if let Err(error) = kept.recording.write(piece) {
            self.fault = Some(error.chain());
        }
    }

    /// Ends the recording, once, and reports the exchange.
    async fn end(&mut self, status: u16, end: ExchangeEnd) {
        let Some(KeptRequest { request, recording }) = self.stored.take() else { return };
        let new = recording.new_messages();
        let finished = blocking(move || recording.finish(end).map_err(|error| error.chain())).await;
        let finished = finished.unwrap_or_else(|error| Err(error.to_string()));
        let exchange = finished.unwrap_or_else(|fault| {
            self.fault = Some(fault);
            RecordedExchange::default()
        });
        self.state.report(ProxyEvent::Exchange(ExchangeFacts {
            model: request.model().to_string(),
            messages: request.message_count(),
            new,
            status,
            answer: exchange.answer,
            is_recorded: false,
            input: exchange.input,
            output: exchange.output,
            took: self.start.elapsed(),
            notes: exchange.notes,
            fault: self.fault.take(),
        }));
    }
}
