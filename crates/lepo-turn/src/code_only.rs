//! The instruction of `--code`: only the code blocks of an answer are used.

use lepo_model::{ChatMessage, ChatRole};

const CODE_ONLY: &str = "Answer with code only, in a fenced code block (```), without explanations.";

/// Appends the instruction to the question: small models follow it there, and the text before it remains the
/// same for the cache of the server.
pub fn add_code_only(messages: &mut Vec<ChatMessage>) {
    let question = messages.iter().rposition(|message| message.role == ChatRole::User);
    match question.and_then(|at| messages.get_mut(at)) {
        Some(message) => message.text = format!("{}\n\n{CODE_ONLY}", message.text.trim_end()).into(),
        None => messages.push(ChatMessage::new(ChatRole::System, CODE_ONLY)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_question_has_the_sentence() {
        let said = |role, text: &str| ChatMessage::new(role, text);
        let (system, user, answer) =
            (said(ChatRole::System, "S"), said(ChatRole::User, "q\n"), said(ChatRole::Assistant, "a"));
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
