//! The messages before an answer, in their order: for a turn, a dry run, a group, a queued question, and a look-up in the
//! record. No I/O.

use std::ops::Range;

use super::Masking;
use super::message::NewMessage;
use lepo_base::role::Role;

/// The parts of an opening, in their order.
#[derive(Default)]
pub struct OpeningParts {
    pub prompt: Option<NewMessage>,
    /// Names of the skills. They change less often than instructions, so that after a summary a server still has them.
    pub catalogue: Option<NewMessage>,
    /// Files of instructions of the repository.
    pub instructions: Option<NewMessage>,
    /// Outputs of the user's own commands; empty in a turn, which writes each output when its command ends.
    pub outputs: Vec<NewMessage>,
    /// Resources and prompts of MCP servers.
    pub served: Vec<NewMessage>,
    /// The skill that the question names.
    pub skill: Option<NewMessage>,
    /// The form of the answer.
    pub form: Option<NewMessage>,
    pub question: Option<NewMessage>,
}

/// Returns the messages in the order in which they are written and sent.
pub fn opening(parts: OpeningParts) -> Vec<NewMessage> {
    let OpeningParts { prompt, catalogue, instructions, outputs, served, skill, form, question } = parts;
    let first = prompt.into_iter().chain(catalogue).chain(instructions);
    let last = skill.into_iter().chain(form).chain(question);
    first.chain(outputs).chain(served).chain(last).collect()
}

/// Returns the system prompt of a new conversation.
pub fn prompt_message(masking: &Masking, prompt: String) -> NewMessage {
    let screened = masking.screen_prompt(&prompt);
    NewMessage::hidden(prompt, screened)
}

/// Returns the output of a command of the user's own.
pub fn output_message(masking: &Masking, text: &[u8]) -> NewMessage {
    let screened = masking.screen(text, "the output of a command");
    NewMessage::new(Role::System, false, String::from_utf8_lossy(text).into_owned(), screened)
}

/// Returns a question; `typed_ranges` of its text were typed by the user, and only the rest is masked.
pub fn question_message(masking: &Masking, text: String, typed_ranges: &[Range<usize>]) -> NewMessage {
    let screened = masking.screen_question(&text, typed_ranges);
    NewMessage::new(Role::User, false, text, screened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_their_order() {
        let masking = Masking::shapes_only();
        let new = |text: &str| NewMessage::hidden(text.to_string(), masking.screen_uncounted(text));
        let parts = OpeningParts {
            question: Some(new("8")),
            form: Some(new("7")),
            skill: Some(new("6")),
            served: vec![new("5")],
            outputs: vec![new("3"), new("4")],
            instructions: Some(new("2")),
            catalogue: Some(new("1")),
            prompt: Some(new("0")),
        };
        let texts: Vec<String> = opening(parts).iter().map(|new| new.message.text.to_string()).collect();
        assert_eq!(texts.concat(), "012345678");
    }
}
