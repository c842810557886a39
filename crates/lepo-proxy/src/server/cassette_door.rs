//! Answers requests from the store, and without a network refuses what it does not have.

use std::time::Instant;

use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::exchange::{AnswerBody, refused_answer, whole_body};
use super::refusal::ProxyRefusal;
use super::state::{ExchangeFacts, ProxyEvent, ProxyState};
use crate::cassette::{CassetteLookup, ProxyCassette, RecordedReply, render};
use crate::request::{ProxyRequest, UnreadableRequest};
use crate::wire::ProxyWire;

/// A request before the recorded answers.
pub struct CassetteDoor<'d> {
    pub state: &'d ProxyState,
    pub cassette: &'d ProxyCassette,
    /// The path of the request.
    pub path: &'d str,
    pub start: Instant,
}

impl CassetteDoor<'_> {
    /// Returns the recorded answer, or the refusal if nothing is to be sent; `None` if the request is to be sent.
    pub fn answer(&self, request: &ProxyRequest) -> Result<Option<Response<AnswerBody>>, ProxyRefusal> {
        let found = self.cassette.look_up(request).map_err(|error| {
            ProxyRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("not sent: {}", error.chain()))
        })?;
        match found {
            CassetteLookup::Found(reply) => Ok(Some(self.recorded_answer(request, &reply))),
            CassetteLookup::Missed(_) if !self.state.is_offline => Ok(None),
            CassetteLookup::Missed(message) => Ok(Some(self.refuse(message, Some(request.wire())))),
        }
    }

    fn recorded_answer(&self, request: &ProxyRequest, reply: &RecordedReply) -> Response<AnswerBody> {
        let (media, bytes) = render(reply, request);
        if reply.has_masks {
            self.state.report_masks();
        }
        self.state.report(ProxyEvent::Exchange(ExchangeFacts {
            model: request.model().to_string(),
            messages: request.message_count(),
            new: 0,
            status: StatusCode::OK.as_u16(),
            answer: Some(reply.answer),
            is_recorded: true,
            input: reply.counts.input,
            output: reply.counts.output,
            took: self.start.elapsed(),
            notes: Vec::new(),
            fault: None,
        }));
        let mut answer = Response::new(whole_body(bytes));
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
        answer
    }

    /// Refuses a request that cannot be read, if nothing is to be sent.
    pub fn refuse_unreadable(
        &self,
        unreadable: UnreadableRequest,
        wire: Option<ProxyWire>,
    ) -> Option<Response<AnswerBody>> {
        let message = || format!("no recorded answer: {unreadable}");
        self.state.is_offline.then(|| self.refuse(message(), wire))
    }

    fn refuse(&self, message: String, wire: Option<ProxyWire>) -> Response<AnswerBody> {
        self.state.report_unrecorded(self.path, &message);
        refused_answer(&ProxyRefusal::new(StatusCode::NOT_FOUND, message), wire)
    }

    /// If nothing may be sent, answers a request of no known wire: with the list of models, or else a refusal.
    pub fn answer_other(&self, method: &Method, headers: &HeaderMap) -> Option<Response<AnswerBody>> {
        if !self.state.is_offline {
            return None;
        }
        if *method == Method::GET && self.path.trim_end_matches('/').ends_with("/v1/models") {
            let is_anthropic = headers.contains_key("anthropic-version");
            let mut answer = Response::new(whole_body(self.models(is_anthropic).to_string()));
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            return Some(answer);
        }
        let message = format!("{method} {} is not recorded, and nothing may be sent", self.path);
        let refusal = ProxyRefusal::new(StatusCode::NOT_FOUND, message);
        if self.state.is_new_path(method.as_str(), self.path) {
            let (path, status) = (self.path.to_string(), refusal.status.as_u16());
            self.state.report(ProxyEvent::Refused { path, status, message: refusal.message.clone() });
        }
        Some(refused_answer(&refusal, None))
    }

    fn models(&self, is_anthropic: bool) -> Value {
        let models = self.cassette.models();
        if !is_anthropic {
            let model =
                |name: &String| json!({ "id": name, "object": "model", "created": 0, "owned_by": "lepo" });
            return json!({ "object": "list", "data": models.iter().map(model).collect::<Vec<_>>() });
        }
        let model = |name: &String| json!({ "id": name, "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z" });
        json!({
            "data": models.iter().map(model).collect::<Vec<_>>(),
            "first_id": models.first(),
            "last_id": models.last(),
            "has_more": false,
        })
    }
}
