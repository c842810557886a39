//! Decides on the request that a turn left pending.

use super::session::ReplSession;
use super::slash_spec::SessionStep;
use super::turn::turn;
use crate::ui::{ViewEvent, ViewState};
use lepo_base::error::{Error, Result};
use lepo_turn::{Decision, TurnRequest, TurnStart, Verdict};

/// The minimum length of the part of an id that identifies a request.
const LEAST_OF_ID: usize = 4;

/// Runs or refuses the pending request, and continues its turn.
pub(super) async fn decide(session: &mut ReplSession<'_>, verdict: Verdict) -> Result<ViewState> {
    let id = session.waiting.ok_or_else(|| {
        Error::nothing("no request is pending here")
            .hint("/ls lists the conversations, /tail ID continues at a pending request")
    })?;
    let store = session.store.clone();
    let _claim = store.requests().claim(id)?;
    let forest = store.names().forest()?;
    let decision = Decision::on((&store, &session.env.masking), &forest, id, verdict)?;
    session.waiting = None;
    let state = ViewState::Idle.after(ViewEvent::Entered);
    let ask = TurnRequest {
        decision: Some(decision),
        ..TurnRequest::new(TurnStart::Decided(id), None, &session.runs)
    };
    turn(session, state, &forest, ask).await
}

/// Returns the decision on the pending request, which `named` may identify by its id or one end of it.
pub(super) fn decision(session: &ReplSession<'_>, named: &str, verdict: Verdict) -> Result<SessionStep> {
    let (named, id) = (named.to_ascii_uppercase(), session.waiting.map(|id| id.to_string()));
    let is_meant = |id: &String| {
        let is_part = named.len() >= LEAST_OF_ID && (id.starts_with(&named) || id.ends_with(&named));
        named.is_empty() || is_part
    };
    match id {
        Some(id) if !is_meant(&id) => Err(Error::usage(format!("the pending request here is {id}"))
            .hint("/tail ID continues at another one")),
        _ => Ok(SessionStep::Decide(verdict)),
    }
}
