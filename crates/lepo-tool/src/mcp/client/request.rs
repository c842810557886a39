//! A request: its time limits, the server's progress and questions while it lasts, and its cancellation.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use rmcp::model::{ClientRequest, CustomResult, ServerResult};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::super::elicitation::{ElicitationHandler, ServerQuestion};
use super::cancel::CancelGuard;
use super::pipes::LIMIT;
use super::{CallFailure, McpClient, TimeLimits, errors};

/// Most times that a server may answer a request with questions.
const QUESTIONS: usize = 10;

/// Answers to a server's questions, by key.
pub(super) type ElicitationAnswers = BTreeMap<String, Value>;

impl McpClient {
    /// Sends the request that `request` builds; repeats it, with the answers and the server's `requestState`, as long
    /// as the server asks back.
    pub(super) async fn converse(
        &mut self,
        limits: TimeLimits,
        caller: &mut impl ElicitationHandler,
        mut request: impl FnMut(Option<ElicitationAnswers>, Option<String>) -> ClientRequest,
    ) -> Result<Value, CallFailure> {
        self.limit.store(LIMIT, Ordering::Relaxed);
        let mut left = limits.total;
        let (mut answers, mut state) = (None, None);
        for _ in 0..QUESTIONS {
            let start = Instant::now();
            let limits = TimeLimits { total: left, ..limits };
            let result = self.request(request(answers, state), limits, caller).await?;
            left = left.saturating_sub(start.elapsed());
            if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok(result);
            }
            answers = Some(elicit_all(&result, caller).await?).filter(|answers| !answers.is_empty());
            state = result.get("requestState").and_then(Value::as_str).map(str::to_string);
        }
        Err(CallFailure::Malformed(format!("it asked back {QUESTIONS} times")))
    }

    /// Sends a request. If the future is dropped or time runs out, the server is notified of the cancellation.
    pub(super) async fn request(
        &mut self,
        request: ClientRequest,
        limits: TimeLimits,
        caller: &mut impl ElicitationHandler,
    ) -> Result<Value, CallFailure> {
        while self.progress.try_recv().is_ok() {}
        // Questions from before this request are dropped: no user could see them.
        while self.questions.try_recv().is_ok() {}
        let peer = self.service.peer();
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let handle = sent.map_err(errors::from_service_error)?;
        let leaving = self.leaving.clone();
        let mut abandoned = CancelGuard { peer: peer.clone(), id: Some(handle.id.clone()), leaving };
        let mut answer = std::pin::pin!(handle.await_response());
        let (mut idle, mut total) = (Instant::now() + limits.idle, Instant::now() + limits.total);
        let answer = loop {
            tokio::select! {
                answer = &mut answer => break answer,
                Some(words) = self.progress.recv() => {
                    idle = Instant::now() + limits.idle;
                    caller.on_progress(&words);
                }
                Some((asked, reply)) = self.questions.recv() => {
                    let start = Instant::now();
                    let _ = reply.send(caller.elicit(asked).await);
                    // The server is not charged for the user's time.
                    idle = Instant::now() + limits.idle;
                    total += start.elapsed();
                }
                () = sleep_until(idle.min(total)) => {
                    abandoned.send("timed out").await;
                    return Err(CallFailure::Silent(if idle < total { limits.idle } else { limits.total }));
                }
            }
        };
        abandoned.id = None;
        match answer {
            Ok(ServerResult::CustomResult(CustomResult(value))) => Ok(value),
            Ok(known) => {
                serde_json::to_value(known).map_err(|error| CallFailure::Malformed(error.to_string()))
            }
            Err(error) => Err(errors::from_service_error(error)),
        }
    }
}

async fn elicit_all(
    result: &Value,
    caller: &mut impl ElicitationHandler,
) -> Result<ElicitationAnswers, CallFailure> {
    let mut answers = ElicitationAnswers::new();
    let questions = result.get("inputRequests").and_then(Value::as_object);
    for (key, question) in questions.into_iter().flatten() {
        let answer = match question["method"].as_str() {
            Some("elicitation/create") => {
                caller.elicit(ServerQuestion::read(&question["params"])).await.to_json()
            }
            Some("roots/list") => json!({ "roots": [] }),
            _ => {
                return Err(CallFailure::Refused(
                    "it asked for something that lepo does not support".to_string(),
                ));
            }
        };
        answers.insert(key.clone(), answer);
    }
    Ok(answers)
}
