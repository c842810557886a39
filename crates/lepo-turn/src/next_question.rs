//! The texts that a turn adds to its question for the form of the answer: a hidden message before the question, so that
//! the next request has them at the same position and the conversation proves what was asked.

use super::body::{Body, FOR_QUESTION};
use super::masking::Masking;
use super::message::{Message, NewMessage};
use super::schema::{AnswerSchema, CODE_ONLY};
use lepo_base::role::Role;
use lepo_store::bubb::BubbName;
use lepo_store::store::Store;

/// Returns the message to write before a question, or after a retried one; `None` without a form.
pub(crate) fn form_message(
    schema: Option<&AnswerSchema>,
    code_only: bool,
    masking: &Masking,
) -> Option<NewMessage> {
    let text = form_text(schema, code_only)?;
    let screened = masking.screen(text.as_bytes(), "the schema of the answer").into_owned();
    Some(NewMessage::hidden(text, screened))
}

fn form_text(schema: Option<&AnswerSchema>, code_only: bool) -> Option<String> {
    let schema = schema.map(AnswerSchema::instruction);
    let texts: Vec<String> = schema.into_iter().chain(code_only.then(|| CODE_ONLY.to_string())).collect();
    (!texts.is_empty()).then(|| format!("{FOR_QUESTION}\n{}", texts.join("\n\n")))
}

/// Returns the text below the first line of such a message; `None` for another one.
pub fn read_form(message: &Message) -> Option<&str> {
    message.text.split_once('\n').filter(|_| message.body == Body::ForQuestion).map(|(_, text)| text)
}

/// Whether the last question of the path has such a message, before it or after it.
pub fn has_form(path: &[Message]) -> bool {
    let question = path.iter().rposition(Message::is_question).unwrap_or_default();
    let from = question.saturating_sub(1);
    path.get(from..).unwrap_or_default().iter().any(|message| read_form(message).is_some())
}

/// Whether a replay takes the message along with the question after it.
pub fn is_form_message(store: &Store, name: &BubbName) -> bool {
    let is_candidate = name.hidden && name.role == Role::System;
    is_candidate && store.text(name).is_ok_and(|text| Body::read_named(name, &text) == Body::ForQuestion)
}

#[cfg(test)]
mod tests {
    use super::super::message::fixture::path;
    use super::*;

    #[test]
    fn it_is_of_the_question_right_after_it_or_of_the_one_before_it() {
        let text = form_text(None, true).unwrap();
        assert_eq!(form_text(None, false), None);
        for (conv, has) in [
            (format!("s1 P / s1 {text} / u0 q"), true),
            (format!("s1 P / u0 q / s1 {text}"), true),
            (format!("s1 P / s1 {text} / u0 q / a0 b / u0 r"), false),
            (format!("s1 P / s0 {text} / u0 q"), false),
        ] {
            assert_eq!(has_form(&path(&conv)), has, "{conv}");
        }
    }
}
