//! lepo's errors as answers to an editor: the kind stands in the data.

use serde_json::json;

use lepo_acp::rpc::{INTERNAL, INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND, RpcError};
use lepo_base::error::{Error, Kind};
use lepo_base::hint::At;
use lepo_store::bubb::BubbId;

/// An error of lepo.
pub fn of_error(error: &Error) -> RpcError {
    of_question(error, None)
}

/// The error that a question came to, which is kept if it has an id.
pub fn of_question(error: &Error, question: Option<BubbId>) -> RpcError {
    let code = match error.kind {
        Kind::Usage => INVALID_PARAMS,
        Kind::Nothing => NOT_FOUND,
        _ => INTERNAL,
    };
    let mut data = error.to_json(At::Session);
    if let Some(question) = question {
        data["question"] = question.to_string().into();
    }
    let hint = error.hint_for(At::Session).map(|hint| format!("; hint: {hint}")).unwrap_or_default();
    RpcError { code, message: format!("{}{hint}", error.chain()), data: Some(data) }
}

/// The error of a session that the agent does not have.
pub fn no_session(id: &str) -> RpcError {
    let id: String = id.chars().take(200).collect();
    let data = json!({ "kind": "nothing" });
    RpcError { data: Some(data), ..RpcError::new(NOT_FOUND, format!("no session {id:?}")) }
}

/// The error of a session that works.
pub fn busy() -> RpcError {
    let words = "the session is answering; wait until it ends, or cancel it";
    RpcError { data: Some(json!({ "kind": "usage" })), ..RpcError::new(INVALID_REQUEST, words) }
}

/// The error of a parameter.
pub fn wrong(words: impl Into<String>) -> RpcError {
    RpcError { data: Some(json!({ "kind": "usage" })), ..RpcError::new(INVALID_PARAMS, words) }
}
