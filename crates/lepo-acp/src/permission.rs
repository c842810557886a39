//! An agent's request for permission, and the client's answer.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::reading::{entries, tagged};
use super::update::AcpToolCall;

/// The method of the request.
pub const METHOD: &str = "session/request_permission";

/// The meaning of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionOptionKind {
    /// Allow this call.
    AllowOnce,
    /// Allow this and later calls.
    AllowAlways,
    /// Reject this call.
    RejectOnce,
    /// Reject this and later calls.
    RejectAlways,
}

/// Builds the parameters of a request with these options, each with its label. The choice's name is the option's id.
pub fn params(session: &str, call: &AcpToolCall, options: &[(PermissionOptionKind, &str)]) -> Value {
    let option =
        |(kind, name): &(PermissionOptionKind, &str)| json!({ "optionId": kind, "name": name, "kind": kind });
    let options: Vec<Value> = options.iter().map(option).collect();
    json!({ "sessionId": session, "toolCall": call, "options": options })
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionOutcome {
    /// The user chose this option.
    Chosen(PermissionOptionKind),
    /// The request was withdrawn or not answered.
    Cancelled,
}

/// The answer in the protocol's form.
#[derive(Serialize, Deserialize)]
struct PermissionAnswer {
    outcome: AnswerOutcome,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum AnswerOutcome {
    Selected { option_id: String },
    Cancelled,
}

tagged!(AnswerOutcome, "outcome");

/// Parses the client's answer to a request that offered these options; any other answer counts as cancelled.
pub fn outcome(result: &Value, offered: &[(PermissionOptionKind, &str)]) -> PermissionOutcome {
    let chosen = match PermissionAnswer::deserialize(result) {
        Ok(PermissionAnswer { outcome: AnswerOutcome::Selected { option_id } }) => {
            serde_json::from_value(option_id.into()).ok()
        }
        _ => None,
    };
    let is_offered = |choice: &PermissionOptionKind| offered.iter().any(|(offered, _)| offered == choice);
    chosen.filter(is_offered).map_or(PermissionOutcome::Cancelled, PermissionOutcome::Chosen)
}

/// A request for permission from an agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PermissionRequest {
    /// The session's id.
    #[serde(rename = "sessionId")]
    pub session: String,
    /// The call that the agent asks about.
    #[serde(rename = "toolCall")]
    pub call: AcpToolCall,
    #[serde(deserialize_with = "known_options")]
    options: Vec<PermissionOption>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct PermissionOption {
    #[serde(rename = "optionId")]
    id: String,
    kind: PermissionOptionKind,
}

/// Parses the options whose kind is known.
fn known_options<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PermissionOption>, D::Error> {
    Ok(entries(Vec::deserialize(from)?).collect())
}

impl PermissionRequest {
    /// Parses a request; `None` if a required field is missing.
    pub fn read(params: Value) -> Option<PermissionRequest> {
        serde_json::from_value(params).ok()
    }

    fn option(&self, kind: PermissionOptionKind) -> Option<&PermissionOption> {
        self.options.iter().find(|option| option.kind == kind)
    }

    /// Builds the result that chooses the first of `wanted` that the agent offers, else cancels the request.
    pub fn answer(&self, wanted: &[PermissionOptionKind]) -> Value {
        match wanted.iter().find_map(|kind| self.option(*kind)) {
            Some(PermissionOption { id, .. }) => answer(AnswerOutcome::Selected { option_id: id.clone() }),
            None => cancelled(),
        }
    }

    /// Whether the agent offers this option.
    pub fn offers(&self, choice: PermissionOptionKind) -> bool {
        self.option(choice).is_some()
    }
}

/// Builds the result for a request that is not answered.
pub fn cancelled() -> Value {
    answer(AnswerOutcome::Cancelled)
}

fn answer(outcome: AnswerOutcome) -> Value {
    json!(PermissionAnswer { outcome })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_offered_can_be_chosen() {
        let offered =
            [(PermissionOptionKind::AllowOnce, "Allow"), (PermissionOptionKind::RejectOnce, "Reject")];
        let call = AcpToolCall { id: "1".into(), ..AcpToolCall::default() };
        let asked = PermissionRequest::read(params("s", &call, &offered)).unwrap();
        assert_eq!(
            asked.answer(&[PermissionOptionKind::AllowOnce]).to_string(),
            r#"{"outcome":{"outcome":"selected","optionId":"allow_once"}}"#
        );
        assert_eq!(cancelled().to_string(), r#"{"outcome":{"outcome":"cancelled"}}"#);
        assert_eq!(
            params("s", &call, &offered[..1]).to_string(),
            r#"{"sessionId":"s","toolCall":{"toolCallId":"1"},"options":[{"optionId":"allow_once","name":"Allow","kind":"allow_once"}]}"#
        );
        let known = json!({ "sessionId": "s", "toolCall": { "toolCallId": "1" }, "options": [
            7, { "optionId": "a" }, { "optionId": "b", "kind": "dream" }, { "optionId": "c", "kind": "allow_once" },
        ]});
        let known = PermissionRequest::read(known).unwrap();
        assert_eq!((known.options.len(), known.offers(PermissionOptionKind::AllowOnce)), (1, true));
        for (wanted, chosen) in [
            (
                &[PermissionOptionKind::AllowAlways, PermissionOptionKind::AllowOnce][..],
                PermissionOutcome::Chosen(PermissionOptionKind::AllowOnce),
            ),
            (&[PermissionOptionKind::AllowAlways], PermissionOutcome::Cancelled),
            (
                &[PermissionOptionKind::RejectOnce],
                PermissionOutcome::Chosen(PermissionOptionKind::RejectOnce),
            ),
        ] {
            assert_eq!(outcome(&asked.answer(wanted), &offered), chosen);
        }
        let always = json!({ "outcome": { "outcome": "selected", "optionId": "allow_always" } });
        for wrong in [always, json!(null), json!({ "outcome": "selected" }), cancelled()] {
            assert_eq!(outcome(&wrong, &offered), PermissionOutcome::Cancelled, "{wrong}");
        }
    }
}
