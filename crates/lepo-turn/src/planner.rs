//! The chooser and the command writer: two short questions to the model, with answers in JSON.
//!
//! The provider is asked to enforce a schema if it can. The answer is still checked, and an invalid one is
//! requested again without the schema.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::config::Insts;
use lepo_model::Schema;
use lepo_tool::{Access, CommandRequest, find_objects};

/// Asks for the choice, where [`PLANS`] is in the system prompt.
pub const CHOOSE: &str = "plan: choose";

/// Asks for the command, where [`PLANS`] is in the system prompt.
pub const WRITE: &str = "plan: write";

/// The default instructions of chooser and writer for a system prompt, which requests of a turn and of later turns share.
pub static PLANS: LazyLock<String> = LazyLock::new(|| {
    let insts = Insts::default();
    let text = |inst: Option<String>| inst.unwrap_or_default().trim().to_string();
    let (chooser, writer) = (text(insts.tool_chooser), text(insts.command_writer));
    format!(
        "Only when the last message asks for a plan, reply as follows. To every other message answer in words, and never \
         with such a JSON object.\n\nIf it says `{CHOOSE}`:\n{chooser}\n\nIf it says `{WRITE}`:\n{writer}"
    )
});

/// Ends the second try where schemas are not sent: equal bytes would get an equal answer.
pub const JSON_ALONE: &str =
    "The last reply could not be read. Reply with the JSON object alone, without a word before or after it.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChooserAnswer {
    None,
    Command,
}

impl ChooserAnswer {
    pub fn canonical(self) -> &'static str {
        match self {
            ChooserAnswer::None => r#"{"tool":"none"}"#,
            ChooserAnswer::Command => r#"{"tool":"command"}"#,
        }
    }

    pub fn from_canonical(text: &str) -> Option<ChooserAnswer> {
        [ChooserAnswer::None, ChooserAnswer::Command].into_iter().find(|answer| answer.canonical() == text)
    }

    pub fn read(answer: &str) -> Option<ChooserAnswer> {
        let (choices, _) = find_objects(answer, |object| match object.get("tool")?.as_str()? {
            "none" => Some(ChooserAnswer::None),
            "command" => Some(ChooserAnswer::Command),
            _ => None,
        });
        choices.first().copied()
    }
}

/// Parses a writer's answer: a request, or several in order, and the text around them.
pub fn read_requests(answer: &str) -> Option<(Vec<CommandRequest>, String)> {
    Some(find_objects(answer, CommandRequest::from_json)).filter(|(requests, _)| !requests.is_empty())
}

pub fn choice_schema() -> Schema {
    let tool = json!({ "type": "string", "enum": ["none", "command"] });
    schema("tool_choice", json!({ "tool": tool }))
}

pub fn request_schema() -> Schema {
    let access = json!({ "type": "string", "enum": Access::names() });
    let text = json!({ "type": "string" });
    schema("command_request", json!({ "command": text, "access": access, "why": text }))
}

fn schema(name: &str, properties: Value) -> Schema {
    let required: Vec<&String> = properties.as_object().map(|map| map.keys().collect()).unwrap_or_default();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    Schema { name: name.to_string(), schema }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_leniently_and_checked_strictly() {
        for (answer, choice) in [
            (r#"{"tool":"none"}"#, Some(ChooserAnswer::None)),
            ("Sure!\n```json\n{\"tool\": \"command\"}\n```", Some(ChooserAnswer::Command)),
            (r#"{"tool":"hammer"}"#, None),
            (r#"{"tools":"none"}"#, None),
            ("none", None),
            ("", None),
        ] {
            assert_eq!(ChooserAnswer::read(answer), choice, "{answer}");
        }
    }

    #[test]
    fn a_request_keeps_the_words_around_it() {
        let answer = "I will look.\n```json\n{\"command\":\"ls\",\"access\":\"read\"}\n```";
        let (requests, words) = read_requests(answer).unwrap();
        assert_eq!(requests[0].canonical(), r#"{"access":"read","command":"ls"}"#);
        assert_eq!(words, "I will look.");
        let (requests, words) = read_requests("[{\"command\":\"ls\"},\n {\"command\":\"id\"}\n]").unwrap();
        assert_eq!((requests.len(), words.as_str()), (2, ""));
    }
}
