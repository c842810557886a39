//! The content of messages, parsed from role and text. Only this file knows the fixed beginnings of lepo's own
//! messages (docs/format.md, section 12). A parsed message must not be serialised again, because older versions wrote
//! other texts.

use super::planner::ChooserAnswer;
use lepo_base::role::Role;
use lepo_store::bubb::BubbName;
use lepo_tool::{CommandRequest, ToolRequest};
use serde_json::{Map, Value, json};

/// Beginning of a message with a repository's instruction files.
pub const INSTRUCTIONS: &str = "[instructions of this repository]";

/// Beginning of the list of all skills.
pub const CATALOGUE: &str = "[skills of this conversation]";

/// Beginning of the text of a skill.
pub const SKILL: &str = "[skill ";

/// First line of a message about the format of an answer.
pub const FOR_QUESTION: &str = "[for the next question only]";

/// Beginning of a summary; the id of the last summarised message follows.
pub const SUMMARY: &str = "[summary of the conversation up to ";

/// Beginning of the output of the user's own command.
const OUTPUT: &str = "$ ";

/// Beginning of the message to a model whose answer does not match its schema.
pub const COMPLAINT: &str = "This answer does not fit the JSON Schema: ";

const DROPPED_CALLS: &str = "calls of the same answer that were dropped: ";

const SEVERAL: &str = " requests in this answer, to be carried out in order; those after one that is refused, fails or \
    waits for consent are dropped)";

/// The content of a message. Every variant but `Text` requires the right role and visibility: the same text from the
/// user is `Text`.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Questions, answers, system prompts, results, and everything else.
    Text,
    /// The output of the user's own command.
    Output,
    /// A summary of the conversation up to a message.
    Summary,
    /// Instruction files of the repository.
    Instructions,
    /// Names and descriptions of all skills.
    Catalogue,
    /// The text of a skill.
    Skill,
    /// The format of the answer to one question.
    ForQuestion,
    /// A message to a model whose answer does not match its schema.
    Complaint,
    /// The number of calls that were not executed after another one.
    DroppedCalls,
    /// The chooser's answer, exactly as lepo writes it.
    Choice(ChooserAnswer),
    /// A request for consent, exactly in canonical form.
    Request(Box<ToolRequest>),
    /// A call of something else: a skill, or a tool of an agent.
    Call {
        /// The name by which the model called it.
        name: String,
        /// The arguments, as received.
        arguments: Value,
    },
    /// The number of requests in an answer.
    Announcement(usize),
}

impl Body {
    /// Reads the text of a message; JSON only where it could be a request or a call.
    pub fn read(role: Role, hidden: bool, text: &str) -> Body {
        match (role, hidden) {
            (Role::System, false) if text.starts_with(OUTPUT) => Body::Output,
            (Role::System, false) if text.starts_with(SUMMARY) => Body::Summary,
            (Role::System, true) => hidden_system(text),
            (Role::Assistant, true) => hidden_assistant(text),
            _ => Body::Text,
        }
    }

    /// Like `read`, with kind and visibility of a name.
    pub fn read_named(name: &BubbName, text: &str) -> Body {
        Body::read(name.role, name.hidden, text)
    }

    /// Like `request`, by value.
    pub fn into_request(self) -> Option<ToolRequest> {
        match self {
            Body::Request(request) => Some(*request),
            _ => None,
        }
    }

    /// Returns the request, if the message is one.
    pub fn request(&self) -> Option<&ToolRequest> {
        match self {
            Body::Request(request) => Some(request),
            _ => None,
        }
    }

    /// Returns the request, if it is for a command.
    pub fn command(&self) -> Option<&CommandRequest> {
        match self.request()? {
            ToolRequest::Command(command) => Some(command),
            ToolRequest::Call(_) => None,
        }
    }

    /// Whether its result is the next message.
    pub fn is_call(&self) -> bool {
        matches!(self, Body::Request(_) | Body::Call { .. })
    }

    /// Whether the message has content of the repository or names of the user's skills, which only models with tools
    /// receive. At the root, it is not a system prompt.
    pub fn is_of_repository(&self) -> bool {
        matches!(self, Body::Instructions | Body::Catalogue)
    }

    /// Whether a turn adds it automatically. Recorded runs neither compare nor add such messages, which differ
    /// between clones.
    pub fn is_added(&self) -> bool {
        matches!(self, Body::Instructions | Body::Catalogue | Body::Skill | Body::ForQuestion)
    }
}

fn hidden_system(text: &str) -> Body {
    match text.as_bytes().first() {
        Some(b'[') if text.starts_with(INSTRUCTIONS) => Body::Instructions,
        Some(b'[') if text.starts_with(CATALOGUE) => Body::Catalogue,
        Some(b'[') if text.starts_with(SKILL) => Body::Skill,
        Some(b'[') if text.strip_prefix(FOR_QUESTION).is_some_and(|rest| rest.starts_with('\n')) => {
            Body::ForQuestion
        }
        Some(b'{') => match ChooserAnswer::from_canonical(text) {
            Some(choice) => Body::Choice(choice),
            None => request_of(text).unwrap_or(Body::Text),
        },
        Some(b'T') if text.starts_with(COMPLAINT) => Body::Complaint,
        Some(b'c') if is_dropped_note(text) => Body::DroppedCalls,
        _ => Body::Text,
    }
}

fn hidden_assistant(text: &str) -> Body {
    match text.as_bytes().first() {
        Some(b'(') => announced(text).map_or(Body::Text, Body::Announcement),
        Some(b'{') => request_of(text).or_else(|| call_of(text)).unwrap_or(Body::Text),
        _ => Body::Text,
    }
}

fn call_of(text: &str) -> Option<Body> {
    let mut fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    let (name, arguments) = (fields.remove("name")?, fields.remove("arguments")?);
    let name = name.as_str()?.to_string();
    (call_text(&name, &arguments) == text).then_some(Body::Call { name, arguments })
}

fn request_of(text: &str) -> Option<Body> {
    ToolRequest::from_canonical(text).map(|request| Body::Request(Box::new(request)))
}

/// Whether a text is a request in canonical form, which could be approved and run if a hidden message had it.
pub fn is_request_text(text: &str) -> bool {
    text.starts_with('{') && ToolRequest::from_canonical(text).is_some()
}

/// Returns the text of a bubb for a call that is not a valid request: compact JSON with sorted keys.
pub fn call_text(name: &str, arguments: &Value) -> String {
    json!({ "arguments": arguments, "name": name }).to_string()
}

/// The result of a request that the user refused.
pub const REFUSED: &str = "refused: the user said no";

/// Returns the text before several requests of an answer. If the first is decided in a later process, this text tells
/// the model about the others.
pub fn announcement(requests: usize) -> Option<String> {
    (requests > 1).then(|| format!("({requests}{SEVERAL}"))
}

fn announced(text: &str) -> Option<usize> {
    let number = text.strip_prefix('(')?.strip_suffix(SEVERAL)?.parse().ok()?;
    announcement(number).filter(|exact| exact == text).map(|_| number)
}

/// Returns the text after a call of an answer whose further calls are not executed.
pub fn dropped_note(calls: usize) -> String {
    format!("{DROPPED_CALLS}{calls}")
}

fn is_dropped_note(text: &str) -> bool {
    text.strip_prefix(DROPPED_CALLS).is_some_and(|number| number.parse::<usize>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_recognised_and_what_is_only_near_it_is_text() {
        let command = r#"{"access":"read","command":"ls"}"#;
        let call = r#"{"arguments":{"name":"a"},"name":"skill"}"#;
        let several = announcement(2).unwrap();
        let dropped = dropped_note(3);
        let request = || request_of(command).unwrap();
        let called = Body::Call { name: "skill".into(), arguments: json!({ "name": "a" }) };
        for (tag, text, body) in [
            ("s1", "[instructions of this repository] I", Body::Instructions),
            ("s0", "[instructions of this repository] I", Body::Text),
            ("s1", "[instructions of this house]", Body::Text),
            ("s1", "[skills of this conversation] a", Body::Catalogue),
            ("s1", "[skill a, from /a] x", Body::Skill),
            ("u1", "[skill a, from /a] x", Body::Text),
            ("s1", "[for the next question only]\nx", Body::ForQuestion),
            ("s1", "[for the next question only]", Body::Text),
            ("s0", "[summary of the conversation up to X]", Body::Summary),
            ("s1", "[summary of the conversation up to X]", Body::Text),
            ("s0", "$ ls\nb", Body::Output),
            ("s1", "$ ls\nb", Body::Text),
            ("s1", r#"{"tool":"none"}"#, Body::Choice(ChooserAnswer::None)),
            ("s1", r#"{"tool":"command"}"#, Body::Choice(ChooserAnswer::Command)),
            ("s1", r#"{"tool": "none"}"#, Body::Text),
            ("a1", r#"{"tool":"none"}"#, Body::Text),
            ("s1", command, request()),
            ("a1", command, request()),
            ("a0", command, Body::Text),
            ("t1", command, Body::Text),
            ("a1", r#"{"command":"ls","access":"read"}"#, Body::Text),
            ("a1", call, called),
            ("s1", call, Body::Text),
            ("a1", r#"{"name":"skill"}"#, Body::Text),
            ("s1", "This answer does not fit the JSON Schema: x", Body::Complaint),
            ("a1", "This answer does not fit the JSON Schema: x", Body::Text),
            ("s1", &dropped, Body::DroppedCalls),
            ("s1", "calls of the same answer that were dropped: three", Body::Text),
            ("a1", &several, Body::Announcement(2)),
            ("s1", &several, Body::Text),
            ("a1", "(2 requests)", Body::Text),
            ("a1", "", Body::Text),
        ] {
            let role = Role::from_letter(tag.as_bytes()[0]).unwrap();
            assert_eq!(Body::read(role, tag.ends_with('1'), text), body, "{tag} {text}");
        }
    }
}
