//! lepo's errors as responses to an editor, with the kind in `data`.

use serde_json::json;

use lepo_acp::rpc::{INTERNAL, INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND, RpcError};
use lepo_base::error::{Error, ExitKind};
use lepo_base::hint::HintTarget;
use lepo_store::bubb::BubbId;

pub fn rpc_error(error: &Error) -> RpcError {
    of_question(error, None)
}

/// Converts the error of a question, with the id of the question if it is stored.
pub fn of_question(error: &Error, question: Option<BubbId>) -> RpcError {
    let code = match error.kind {
        ExitKind::Usage => INVALID_PARAMS,
        ExitKind::Nothing => NOT_FOUND,
        _ => INTERNAL,
    };
    let mut data = error.to_json(HintTarget::Session);
    if let Some(question) = question {
        data["question"] = question.to_string().into();
    }
    let hint = error.hint_for(HintTarget::Session).map(|hint| format!("; hint: {hint}")).unwrap_or_default();
    RpcError { code, message: format!("{}{hint}", error.chain()), data: Some(data) }
}

/// Returns the error for an unknown session.
pub fn no_session(id: &str) -> RpcError {
    let id: String = id.chars().take(200).collect();
    let data = json!({ "kind": "nothing" });
    RpcError { data: Some(data), ..RpcError::new(NOT_FOUND, format!("no session {id:?}")) }
}

/// Returns the error for a session with a running turn.
pub fn busy() -> RpcError {
    let words = "the session is answering; wait until it ends, or cancel it";
    RpcError { data: Some(json!({ "kind": "usage" })), ..RpcError::new(INVALID_REQUEST, words) }
}

/// Returns the error for an invalid parameter.
pub fn wrong(message: impl Into<String>) -> RpcError {
    RpcError { data: Some(json!({ "kind": "usage" })), ..RpcError::new(INVALID_PARAMS, message) }
}
