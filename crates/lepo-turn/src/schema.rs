//! An answer in JSON: compiles the JSON Schema of `--schema`, and checks an answer against it.

use super::body::COMPLAINT;
use jsonschema::Validator;
use serde_json::Value;

use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, ResumeAction};
use lepo_base::role::Role;
use lepo_model::{ChatMessage, ConversationFormat, Schema};
use lepo_tool::without_thinking;

/// Maximum number of faults to list for an answer.
const FAULTS: usize = 5;
/// Hint how to read an invalid answer.
pub const KEPT: &str = "what it said is kept hidden: `lepo log -a`";
/// Maximum characters of a fault.
const FAULT: usize = 300;

/// The schema of an answer.
#[derive(Debug)]
pub struct AnswerSchema {
    /// The schema in a request, for APIs that can enforce a schema.
    pub in_request: Schema,
    validator: Validator,
}

impl AnswerSchema {
    /// Compiles a schema without fetching anything. Exit 2, with `from`, if it is invalid.
    pub fn compile(from: &str, text: &str) -> Result<AnswerSchema> {
        let schema: Value = serde_json::from_str(text)
            .map_err(|error| Error::usage(format!("{from} is not JSON")).because(error))?;
        let wrong = |why: String| Error::usage(format!("{from} is not a JSON Schema: {}", cut(&why)));
        if !schema.is_object() && !schema.is_boolean() {
            return Err(wrong("it is neither an object nor true or false".into()));
        }
        let validator = jsonschema::validator_for(&schema).map_err(|error| {
            let at = error.instance_path().to_string();
            let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
            wrong(format!("{error}{at}"))
        })?;
        Ok(AnswerSchema { in_request: Schema { name: "answer".into(), schema }, validator })
    }

    /// Returns the instruction for a model.
    pub fn instruction(&self) -> String {
        let schema = &self.in_request.schema;
        format!(
            "Answer with one JSON value that is valid against this JSON Schema, and with nothing else: no \
             words before or after it, no code fence.\n{schema}"
        )
    }

    /// Returns the compact JSON of an answer that matches, or a description of the faults. Skips thinking,
    /// and a fence around the JSON.
    pub fn judge(&self, answer: &str) -> std::result::Result<String, String> {
        let answer = without_thinking(answer);
        let json = unfenced(answer.trim());
        let value: Value = match serde_json::from_str(json) {
            Ok(value) => value,
            Err(error) => return Err(format!("it is not JSON: {error}")),
        };
        let faults: Vec<String> = self
            .validator
            .iter_errors(&value)
            .take(FAULTS)
            .map(|error| {
                let at = error.instance_path().to_string();
                let at = if at.is_empty() { "the value".to_string() } else { at };
                cut(&format!("{at}: {error}"))
            })
            .collect();
        if faults.is_empty() { Ok(compact(json)) } else { Err(faults.join("; ")) }
    }
}

/// Returns the error for an answer that does not match the schema, even after a second request.
pub fn unfit(model: &str, fault: &str) -> Error {
    Error::remote(format!("{model} gave no answer that matches the schema: {fault}")).hint(
        Hint::from(KEPT)
            .text("; ")
            .command(ResumeAction::Retry)
            .either(" with the same --schema", "")
            .text(" asks again"),
    )
}

/// Adds `instruction` for a model: to its instruction message, or, in the forms without one, to the last user
/// message.
pub fn add_instruction(messages: &mut Vec<ChatMessage>, form: ConversationFormat, instruction: &str) {
    let role = match form {
        ConversationFormat::Messages | ConversationFormat::Prompted => Role::System,
        ConversationFormat::Program | ConversationFormat::Plain => Role::User,
    };
    match messages.last_mut() {
        Some(last) if last.role == role => last.text = format!("{}\n\n{instruction}", last.text).into(),
        _ => messages.push(ChatMessage::new(role, instruction)),
    }
}

/// Prefix of each complaint; docs/format.md has it.
/// Returns the message to a model whose answer does not match.
pub fn complaint(fault: &str) -> String {
    format!("{COMPLAINT}{fault}. Answer again, with the corrected JSON and nothing else.")
}

/// Returns the inside of a code fence, if the text has nothing else.
fn unfenced(text: &str) -> &str {
    let inside = || {
        let (first, rest) = text.strip_prefix("```")?.split_once('\n')?;
        let inside = rest.trim_end().strip_suffix("```")?;
        (!first.contains('`') && !inside.contains("\n```")).then_some(inside.trim())
    };
    inside().unwrap_or(text)
}

/// Removes the white space between tokens of JSON; numbers and strings remain unchanged.
fn compact(json: &str) -> String {
    let (mut out, mut inside, mut escaped) = (String::with_capacity(json.len()), false, false);
    for c in json.chars() {
        if inside {
            inside = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            inside = c == '"';
        }
        out.push(c);
    }
    out
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(FAULT) {
        Some((at, _)) => format!("{}...", text.split_at(at).0),
        None => text.to_string(),
    }
}

/// The instruction of `-x`.
pub const CODE_ONLY: &str = "Answer with code only, in a fenced code block (```), without explanations.";

/// Appends the instruction to the question: small models follow it there, and the text before it remains the
/// same for the cache of the server.
pub fn add_code_only(messages: &mut Vec<ChatMessage>) {
    let question = messages.iter().rposition(|message| message.role == Role::User);
    match question.and_then(|at| messages.get_mut(at)) {
        Some(message) => message.text = format!("{}\n\n{CODE_ONLY}", message.text.trim_end()).into(),
        None => messages.push(ChatMessage::new(Role::System, CODE_ONLY)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERSON: &str = r#"{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},
        "required":["name"],"additionalProperties":false}"#;

    #[test]
    fn answers_are_judged() {
        let schema = AnswerSchema::compile("x", PERSON).unwrap();
        for (answer, expected) in [
            (r#"{"name":"a"}"#, Ok(r#"{"name":"a"}"#)),
            (" {\n  \"name\": \"a  b\\\" c\",\n  \"age\": 12 }\n", Ok(r#"{"name":"a  b\" c","age":12}"#)),
            ("```json\n{\"name\": \"a\"}\n```", Ok(r#"{"name":"a"}"#)),
            ("```\n{\"name\": \"`\"}```\n", Ok(r#"{"name":"`"}"#)),
            ("<think>hm {</think>{\"name\":\"a\"}", Ok(r#"{"name":"a"}"#)),
            (r#"{"name":"\\","age":1}"#, Ok(r#"{"name":"\\","age":1}"#)),
            (r#"{"name":1}"#, Err("/name: ")),
            (r#"{"age":1}"#, Err("\"name\" is a required property")),
            (r#"{"name":"a","more":1}"#, Err("the value: ")),
            ("Sure! {\"name\":\"a\"}", Err("it is not JSON: ")),
            ("{\"name\":\"a\"} {\"name\":\"b\"}", Err("it is not JSON: ")),
            ("", Err("it is not JSON: ")),
        ] {
            match (schema.judge(answer), expected) {
                (Ok(json), Ok(expected)) => assert_eq!(json, expected),
                (Err(fault), Err(expected)) => assert!(fault.contains(expected), "{fault}"),
                (judged, _) => panic!("{answer}: {judged:?}"),
            }
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        let schema = AnswerSchema::compile("x", r#"{"type":"number"}"#).unwrap();
        assert_eq!(schema.judge("12345678901234567890.10").unwrap(), "12345678901234567890.10");
    }

    #[test]
    fn a_bad_schema_is_said() {
        for (text, message) in [
            ("{", "x is not JSON"),
            ("[]", "x is not a JSON Schema"),
            (r#"{"type":"nonsense"}"#, "x is not a JSON Schema"),
            (r#"{"$ref":"https://example.com/other.json"}"#, "x is not a JSON Schema"),
            (r#"{"$ref":"file:///etc/passwd"}"#, "x is not a JSON Schema"),
            (r##"{"$ref":"#/$defs/none"}"##, "x is not a JSON Schema"),
        ] {
            let error = AnswerSchema::compile("x", text).unwrap_err();
            assert_eq!(error.kind.exit_code(), 2);
            assert!(error.message.starts_with(message), "{}", error.message);
        }
        assert!(AnswerSchema::compile("x", "true").unwrap().judge("[1, 2]").is_ok());
    }

    #[test]
    fn a_fault_is_short_and_only_some_are_named() {
        let schema = AnswerSchema::compile("x", r#"{"items":{"type":"string"}}"#).unwrap();
        let fault = schema.judge(&format!("[{}1]", "1,".repeat(1000))).unwrap_err();
        assert!(fault.len() < 5 * (FAULT + 10) && fault.matches("; ").count() == 4, "{fault}");
    }

    #[test]
    fn the_last_question_has_the_sentence() {
        let message = |role, text: &str| ChatMessage::new(role, text);
        let (system, user, answer) =
            (message(Role::System, "S"), message(Role::User, "q\n"), message(Role::Assistant, "a"));
        for (before, place) in [
            (vec![system.clone(), user.clone()], 1),
            (vec![user.clone(), answer.clone(), user.clone(), system.clone()], 2),
            (vec![system.clone()], 1),
        ] {
            let mut messages = before.clone();
            add_code_only(&mut messages);
            let changed: Vec<usize> =
                (0..messages.len()).filter(|&at| messages.get(at) != before.get(at)).collect();
            assert_eq!(changed, [place]);
            assert!(messages[place].text.ends_with(CODE_ONLY));
        }
    }
}
