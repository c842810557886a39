//! The part of a conversation that a summary replaces, and the remedy for a conversation without such a part.

use super::body::Body;
use super::message::Message;
use super::stored_calls::finished_calls;
use lepo_base::error::{Error, ExitKind};
use lepo_base::hint::{Hint, HintCommand};
use lepo_base::role::Role;

/// Default number of last turns that a summary leaves out.
pub const KEEP: usize = 2;

/// Returns the index at which the last `keep` turns start, if there is a question before them; output of a command
/// before a question belongs to it.
pub fn summary_cut(messages: &[Message], keep: usize) -> Option<usize> {
    let questions = messages.iter().enumerate().filter(|(_, message)| message.is_question());
    let questions: Vec<usize> = questions.map(|(at, _)| at).collect();
    let first = questions.len().checked_sub(keep)?;
    let mut cut = questions.get(first).copied().unwrap_or(messages.len());
    let is_output = |message: &Message| {
        let is_visible = message.role == Role::System && !message.hidden && !message.is_root;
        message.body == Body::ForQuestion || is_visible && message.body != Body::Summary
    };
    while cut > 1 && messages.get(cut - 1).is_some_and(is_output) {
        cut -= 1;
    }
    let covered = messages.get(..cut)?;
    (covered.len() >= 2 && covered.iter().any(Message::is_question)).then_some(cut)
}

/// Replaces the hint to continue from a summary if `lepo do --compact` would not shorten the conversation.
pub fn with_possible_remedy(error: Error, messages: &[Message]) -> Error {
    let shortens = || summary_cut(messages, KEEP).is_some() || !finished_calls(messages).is_empty();
    if shortens() { error } else { without_summary_hint(error) }
}

/// Replaces the hint to continue from a summary, for a request outside a conversation.
pub fn without_summary_hint(error: Error) -> Error {
    if !suggests_summary(&error) {
        return error;
    }
    let other_model =
        Hint::from("send less, or ask a model that accepts more: ").command(HintCommand::OtherModel);
    let is_over_minute = error.kind != ExitKind::Overflow;
    error.hint(if is_over_minute { other_model.text("; waiting does not help") } else { other_model })
}

fn suggests_summary(error: &Error) -> bool {
    error.hint.as_ref().is_some_and(Hint::suggests_summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::fixture::path;
    use lepo_base::hint::ResumeAction;

    #[test]
    fn the_last_turns_stay_as_they_are() {
        for (text, keep, expected) in [
            ("s1 P / u0 a / a0 b / u0 c / a0 d", 1, Some(3)),
            ("s1 P / u0 a / a0 b / u0 c / a0 d", 0, Some(5)),
            ("s1 P / u0 a / a0 b / u0 c / a0 d", 2, None),
            ("s1 P / u0 a / a0 b / s0 ran / u0 c / a0 d", 1, Some(3)),
            ("s1 P / s0 [summary of the conversation up to X] / u0 c / a0 d", 1, None),
            ("u0 a / a0 b / u0 c", 1, Some(2)),
            ("u0 a", 0, None),
            ("s1 P", 0, None),
        ] {
            assert_eq!(summary_cut(&path(text), keep), expected, "{text} keep {keep}");
        }
    }

    #[test]
    fn a_summary_is_suggested_only_where_it_shortens() {
        let call = r#"a1 {"access":"read","command":"ls"} / t1 r"#;
        for (text, shortens) in [
            ("s1 P / u0 a".to_string(), false),
            ("s1 P / u0 a / a0 b / u0 c".into(), false),
            ("s1 P / u0 a / a0 b / u0 c / a0 d / u0 e".into(), true),
            (format!("s1 P / u0 a / {call} / a0 b / u0 c"), true),
        ] {
            for (error, other) in [
                (Error::new(ExitKind::Overflow, "too long"), "that accepts more: "),
                (Error::remote("over a limit per minute"), "; waiting does not help"),
            ] {
                let error =
                    error.hint(Hint::from("continue from a summary: ").command(ResumeAction::Compact));
                let error = with_possible_remedy(error, &path(&text));
                assert_eq!(suggests_summary(&error), shortens, "{text}");
                assert_eq!(format!("{:?}", error.hint).contains(other), !shortens, "{text}");
            }
            let plain = with_possible_remedy(Error::remote("no").hint("ask later"), &path(&text));
            assert!(format!("{:?}", plain.hint).contains("ask later"));
        }
    }
}
