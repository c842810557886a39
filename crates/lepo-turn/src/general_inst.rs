//! Decides whether the default text of `general` is sent: it concerns results of commands. If a request has it and
//! the next one does not, the server has to read the answer between them again.

use super::body::Body;
use super::message::Message;
use super::stopped_answer::is_stopped_text;
use lepo_base::role::Role;
use lepo_tool::ToolRequest;

/// Whether the result of a command came after the last question, or between the last answer and it.
pub fn has_new_result(path: &[Message]) -> bool {
    let is_answer = |message: &Message| {
        message.role == Role::Assistant && (!message.hidden || is_stopped_text(&message.text))
    };
    let question = path.iter().rposition(Message::is_question).unwrap_or(path.len());
    let before = path.get(..question).unwrap_or_default();
    let since = before.iter().rposition(is_answer).map_or(0, |answer| answer + 1);
    let turn = path.get(since..).unwrap_or_default();
    turn.iter().any(|message| message.body == Body::Output) || turn.windows(2).any(is_command_with_result)
}

fn is_command_with_result(pair: &[Message]) -> bool {
    match pair {
        [command, result] => {
            matches!(result.role, Role::System | Role::Tool)
                && matches!(command.body.request(), Some(ToolRequest::Command(_)))
                && result.body.request().is_none()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::context::{Inst, messages};
    use super::super::message::fixture::path;
    use lepo_model::ConversationFormat;

    #[test]
    fn general_as_it_is_made_goes_only_in_a_turn_with_a_result_of_a_command() {
        use ConversationFormat::{Messages, Prompted};
        let made = crate::config::Insts::default().general.unwrap();
        let ran = r#"a1 {"access":"read","command":"ls"} / t1 b"#;
        let call = r#"a1 {"arguments":{},"server":"s","tool":"t"} / t1 b"#;
        let skill = r#"a1 {"arguments":{"name":"a"},"name":"skill"} / t1 [skill a, from /a] x"#;
        let planned = r#"s1 {"tool":"command"} / s1 {"access":"read","command":"ls"} / s1 b"#;
        for (text, goes) in [
            ("s1 P / u0 hi".to_string(), false),
            ("u0 a / a0 b / u0 c".into(), false),
            (r#"s1 P / u0 hi / s1 {"tool":"none"}"#.into(), false),
            ("s1 P / s1 [instructions of this repository] I / u0 a".into(), false),
            ("s1 P / s1 [skills of this conversation] S / s1 [skill a, from /a] x / u0 a".into(), false),
            ("s1 P / s0 [summary of the conversation up to X] $ x / u0 a".into(), false),
            ("s1 P / s0 a note / u0 a".into(), false),
            (format!("u0 a / {skill}"), false),
            (format!("u0 a / {call}"), false),
            (format!("u0 a / {ran}"), true),
            (format!("u0 a / {skill} / {ran}"), true),
            (format!("u0 a / {planned}"), true),
            ("s1 P / s0 $ ls / u0 hi".into(), true),
            ("s1 P / u0 a / a0 b / s0 $ ls / u0 hi".into(), true),
            // Two questions without an answer between them are of one turn.
            ("s1 P / s0 $ ls / u0 a / u0 b".into(), true),
            // … and never in later turns.
            (format!("u0 a / {planned} / a0 x / u0 b"), false),
            (format!("u0 a / {ran} / a0 x / u0 b"), false),
            ("s1 P / s0 $ ls / u0 hi / a0 x / u0 c".into(), false),
            (format!("s1 P / s0 $ ls / u0 hi / a0 x / u0 c / {ran}"), true),
            ("s1 P / s0 $ ls / u0 hi / a1 part / u0 go on".into(), false),
            // Not yet with a request that has no result.
            (r#"u0 a / a1 {"access":"read","command":"ls"}"#.into(), false),
        ] {
            let text = text.as_str();
            for form in [Messages, Prompted] {
                let sent = messages(&path(text), &[], Inst::General(Some(&made)), form, None);
                assert_eq!(sent.iter().any(|message| message.instruction), goes, "{text}");
                // The prefix is equal with and without.
                let without = messages(&path(text), &[], Inst::General(None), form, None);
                assert_eq!(sent[..without.len()], without[..], "{text}");
            }
        }
    }
}
