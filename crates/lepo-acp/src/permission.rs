//! An agent's request for permission, and the client's answer.

use serde_json::{Value, json};

use super::update::AcpToolCall;

/// The method of the request.
pub const METHOD: &str = "session/request_permission";

/// The meaning of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl PermissionOptionKind {
    const ALL: [PermissionOptionKind; 4] = [
        PermissionOptionKind::AllowOnce,
        PermissionOptionKind::AllowAlways,
        PermissionOptionKind::RejectOnce,
        PermissionOptionKind::RejectAlways,
    ];

    fn as_str(self) -> &'static str {
        match self {
            PermissionOptionKind::AllowOnce => "allow_once",
            PermissionOptionKind::AllowAlways => "allow_always",
            PermissionOptionKind::RejectOnce => "reject_once",
            PermissionOptionKind::RejectAlways => "reject_always",
        }
    }

    fn read(word: &str) -> Option<PermissionOptionKind> {
        PermissionOptionKind::ALL.into_iter().find(|choice| choice.as_str() == word)
    }
}

/// Builds the parameters of a request with these options, each with its label. The choice's name is the option's id.
pub fn params(session: &str, call: &AcpToolCall, options: &[(PermissionOptionKind, &str)]) -> Value {
    let option = |(choice, name): &(PermissionOptionKind, &str)| json!({ "optionId": choice.as_str(), "name": name, "kind": choice.as_str() });
    let options: Vec<Value> = options.iter().map(option).collect();
    json!({ "sessionId": session, "toolCall": call.to_json(), "options": options })
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionOutcome {
    /// The user chose this option.
    Chosen(PermissionOptionKind),
    /// The request was withdrawn or not answered.
    Cancelled,
}

/// Parses the client's answer to a request that offered these options; any other answer counts as cancelled.
pub fn outcome(result: &Value, offered: &[(PermissionOptionKind, &str)]) -> PermissionOutcome {
    let outcome = &result["outcome"];
    let chosen = match outcome["outcome"].as_str() {
        Some("selected") => outcome["optionId"].as_str().and_then(PermissionOptionKind::read),
        _ => None,
    };
    let is_offered = |choice: &PermissionOptionKind| offered.iter().any(|(offered, _)| offered == choice);
    chosen.filter(is_offered).map_or(PermissionOutcome::Cancelled, PermissionOutcome::Chosen)
}

/// A request for permission from an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionRequest {
    /// The session's id.
    pub session: String,
    /// The call that the agent asks about.
    pub call: AcpToolCall,
    /// Its options, each with its id.
    options: Vec<(PermissionOptionKind, String)>,
}

impl PermissionRequest {
    /// Parses a request; `None` if a required field is missing.
    pub fn read(params: &Value) -> Option<PermissionRequest> {
        let option = |option: &Value| {
            Some((
                PermissionOptionKind::read(option["kind"].as_str()?)?,
                option["optionId"].as_str()?.to_string(),
            ))
        };
        Some(PermissionRequest {
            session: params["sessionId"].as_str()?.to_string(),
            call: AcpToolCall::read(&params["toolCall"])?,
            options: params["options"].as_array()?.iter().filter_map(option).collect(),
        })
    }

    /// Builds the result that chooses the first of `wanted` that the agent offers, else cancels the request.
    pub fn answer(&self, wanted: &[PermissionOptionKind]) -> Value {
        let offered =
            |choice: &PermissionOptionKind| self.options.iter().find(|(offered, _)| offered == choice);
        match wanted.iter().find_map(offered) {
            Some((_, id)) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
            None => cancelled(),
        }
    }

    /// Whether the agent offers this option.
    pub fn offers(&self, choice: PermissionOptionKind) -> bool {
        self.options.iter().any(|(offered, _)| *offered == choice)
    }
}

/// Builds the result for a request that is not answered.
pub fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_offered_can_be_chosen() {
        let offered =
            [(PermissionOptionKind::AllowOnce, "Allow"), (PermissionOptionKind::RejectOnce, "Reject")];
        let call = AcpToolCall { id: "1".into(), ..AcpToolCall::default() };
        let asked = PermissionRequest::read(&params("s", &call, &offered)).unwrap();
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
