//! Sends a request while the question becomes durable, and receives short answers completely.

use std::cell::RefCell;
use std::time::Instant;

use super::turn_path::TurnPath;
use super::{Notice, Outcome, TurnEvent, View};
use lepo_base::error::Result;
use lepo_model::{AnswerStream, ChatRequest, Model, PermissionReply};

/// Maximum bytes to read of a chooser's or writer's answer, including thinking. A longer answer is cut off.
const PLANNER_LIMIT: usize = 1 << 20;

/// Sends a request. Bubbs that are still being written become durable in the meantime. The inner error is that the model did
/// not answer; after the outer one nothing was sent, because the question could not be stored.
pub async fn send<'m>(
    model: &'m mut Model,
    view: &mut dyn View,
    (path, outcome): (&mut TurnPath, &mut Outcome),
    request: ChatRequest<'m>,
) -> Result<Result<AnswerStream<'m>>> {
    let start = Instant::now();
    let view = RefCell::new(view);
    let answer = {
        let mut on_notice = |notice| view.borrow_mut().on_event(TurnEvent::Notice(&Notice::Model(notice)));
        tokio::pin! {
            let asked = model.ask(request, &mut on_notice);
        }
        let (failed, saved) = tokio::select! {
            biased;
            saved = path.saved() => (None, saved?),
            // The gate is still closed, so the connection failed: the question is stored nevertheless.
            failed = &mut asked => (Some(failed), path.saved().await?),
        };
        // At once, because an interrupt may end the wait for the answer.
        outcome.report_saved(*view.borrow_mut(), saved);
        view.borrow_mut().on_event(TurnEvent::Waiting);
        match failed {
            Some(failed) => failed,
            None => asked.await,
        }
    };
    if answer.is_err() {
        path.journal_failure(outcome.model.as_deref(), start.elapsed());
    }
    Ok(answer)
}

/// Sends a request and receives its short answer completely. A failure is recorded in the journal, before and
/// during the answer.
pub async fn send_whole(
    model: &mut Model,
    view: &mut dyn View,
    (path, outcome): (&mut TurnPath, &mut Outcome),
    request: ChatRequest<'_>,
) -> Result<(String, lepo_model::Usage)> {
    let start = Instant::now();
    let answer = send(model, view, (path, outcome), request).await??;
    let read = full_text(answer, view).await;
    if read.is_err() {
        path.journal_failure(outcome.model.as_deref(), start.elapsed());
    }
    read
}

/// Returns the complete text of a short answer.
pub async fn full_text(
    mut answer: AnswerStream<'_>,
    view: &mut dyn View,
) -> Result<(String, lepo_model::Usage)> {
    let (mut text, mut usage) = (String::new(), lepo_model::Usage::default());
    let mut room = PLANNER_LIMIT;
    while let Some(event) = answer.next().await? {
        if let lepo_model::ChatEvent::Text(piece) | lepo_model::ChatEvent::Thinking(piece) = &event {
            match room.checked_sub(piece.len()) {
                Some(left) => room = left,
                None => break,
            }
        }
        match event {
            lepo_model::ChatEvent::Text(piece) => text.push_str(&piece),
            lepo_model::ChatEvent::WasThinking => text.clear(),
            lepo_model::ChatEvent::Usage(counts) => usage = counts,
            lepo_model::ChatEvent::Notice(notice) => view.on_event(TurnEvent::Notice(&Notice::Model(notice))),
            lepo_model::ChatEvent::Done(finish) => report_cut(finish, view),
            // A reply for lepo's own use never grants a permission.
            lepo_model::ChatEvent::AgentAsks(question) => {
                answer.permit(question.number, PermissionReply::Nobody)
            }
            _ => {}
        }
    }
    Ok((text, usage))
}

/// Reports an answer that ended before the model completed it.
pub fn report_cut(finish: lepo_model::FinishReason, view: &mut dyn View) {
    let notice = match finish {
        lepo_model::FinishReason::Stop | lepo_model::FinishReason::ToolCalls => return,
        lepo_model::FinishReason::Length => Notice::CutAtLimit,
        lepo_model::FinishReason::Window => Notice::CutAtWindow,
        lepo_model::FinishReason::Other(reason) => Notice::Stopped(reason),
    };
    view.on_event(TurnEvent::Notice(&notice));
}
