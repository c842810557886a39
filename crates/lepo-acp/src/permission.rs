//! An agent's request for permission, and the client's answer.

use serde_json::{Value, json};

use super::update::ToolCall;

/// The method of the request.
pub const METHOD: &str = "session/request_permission";

/// The meaning of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Allow this call.
    AllowOnce,
    /// Allow this and later calls.
    AllowAlways,
    /// Reject this call.
    RejectOnce,
    /// Reject this and later calls.
    RejectAlways,
}

impl Choice {
    const ALL: [Choice; 4] =
        [Choice::AllowOnce, Choice::AllowAlways, Choice::RejectOnce, Choice::RejectAlways];

    fn word(self) -> &'static str {
        match self {
            Choice::AllowOnce => "allow_once",
            Choice::AllowAlways => "allow_always",
            Choice::RejectOnce => "reject_once",
            Choice::RejectAlways => "reject_always",
        }
    }

    fn read(word: &str) -> Option<Choice> {
        Choice::ALL.into_iter().find(|choice| choice.word() == word)
    }
}

/// Builds the parameters of a request with these options, each with its label. The choice's name is the option's id.
pub fn params(session: &str, call: &ToolCall, options: &[(Choice, &str)]) -> Value {
    let option = |(choice, name): &(Choice, &str)| json!({ "optionId": choice.word(), "name": name, "kind": choice.word() });
    let options: Vec<Value> = options.iter().map(option).collect();
    json!({ "sessionId": session, "toolCall": call.to_json(), "options": options })
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The user chose this option.
    Chosen(Choice),
    /// The request was withdrawn or not answered.
    Cancelled,
}

/// Parses the client's answer to a request that offered these options; any other answer counts as cancelled.
pub fn outcome(result: &Value, offered: &[(Choice, &str)]) -> Outcome {
    let outcome = &result["outcome"];
    let chosen = match outcome["outcome"].as_str() {
        Some("selected") => outcome["optionId"].as_str().and_then(Choice::read),
        _ => None,
    };
    let is_offered = |choice: &Choice| offered.iter().any(|(offered, _)| offered == choice);
    chosen.filter(is_offered).map_or(Outcome::Cancelled, Outcome::Chosen)
}

/// A request for permission from an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The session's id.
    pub session: String,
    /// The call that the agent asks about.
    pub call: ToolCall,
    /// Its options, each with its id.
    options: Vec<(Choice, String)>,
}

impl Question {
    /// Parses a request; `None` if a required field is missing.
    pub fn read(params: &Value) -> Option<Question> {
        let option = |option: &Value| {
            Some((Choice::read(option["kind"].as_str()?)?, option["optionId"].as_str()?.to_string()))
        };
        Some(Question {
            session: params["sessionId"].as_str()?.to_string(),
            call: ToolCall::read(&params["toolCall"])?,
            options: params["options"].as_array()?.iter().filter_map(option).collect(),
        })
    }

    /// Builds the result that chooses the first of `wanted` that the agent offers, else cancels the request.
    pub fn answer(&self, wanted: &[Choice]) -> Value {
        let offered = |choice: &Choice| self.options.iter().find(|(offered, _)| offered == choice);
        match wanted.iter().find_map(offered) {
            Some((_, id)) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
            None => cancelled(),
        }
    }

    /// Whether the agent offers this option.
    pub fn offers(&self, choice: Choice) -> bool {
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
        let offered = [(Choice::AllowOnce, "Allow"), (Choice::RejectOnce, "Reject")];
        let call = ToolCall { id: "1".into(), ..ToolCall::default() };
        let asked = Question::read(&params("s", &call, &offered)).unwrap();
        for (wanted, chosen) in [
            (&[Choice::AllowAlways, Choice::AllowOnce][..], Outcome::Chosen(Choice::AllowOnce)),
            (&[Choice::AllowAlways], Outcome::Cancelled),
            (&[Choice::RejectOnce], Outcome::Chosen(Choice::RejectOnce)),
        ] {
            assert_eq!(outcome(&asked.answer(wanted), &offered), chosen);
        }
        let always = json!({ "outcome": { "outcome": "selected", "optionId": "allow_always" } });
        for wrong in [always, json!(null), json!({ "outcome": "selected" }), cancelled()] {
            assert_eq!(outcome(&wrong, &offered), Outcome::Cancelled, "{wrong}");
        }
    }
}
