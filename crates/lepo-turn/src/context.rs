//! The messages of a request: a single path from the root, a message for each bubb, and the inst at the end.
//!
//! At the end, so that all requests of a turn have the same prefix and every server's prompt cache works.

use super::attach::sent_text;
use super::body::Body;
use super::general_inst::has_new_result;
use super::message::{CallGroup, Message};
use super::next_question::{has_form, read_form};
use super::planner::ChooserAnswer;
use super::stored_calls::answer_at;
use crate::config::{is_as_made, is_general_as_made};
use lepo_base::role::Role;
use lepo_model::{ChatMessage, ConversationFormat};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inst<'i> {
    /// `general`.
    General(Option<&'i str>),
    /// `toolChooser`, `commandWriter`.
    Planner(Option<&'i str>),
}

/// Returns the messages of a request. `groups` are this turn's answers with calls; `blocks` describes tools
/// in text, appended to the system prompt.
pub fn messages(
    path: &[Message],
    groups: &[CallGroup],
    inst: Inst<'_>,
    form: ConversationFormat,
    blocks: Option<&str>,
) -> Vec<ChatMessage> {
    let mut messages = match form {
        ConversationFormat::Messages => full_context(path, groups, inst, true),
        ConversationFormat::Prompted => full_context(path, groups, inst, false),
        ConversationFormat::Program => for_program(path, inst, blocks.is_some()),
        ConversationFormat::Plain => plain(path),
    };
    let Some(blocks) = blocks else { return messages };
    let takes_it = matches!(form, ConversationFormat::Messages | ConversationFormat::Prompted);
    let prompt = takes_it && path.first().is_some_and(is_system_prompt);
    match messages.first_mut() {
        Some(first) if prompt => {
            first.text = format!("{}\n\n{blocks}", first.text.trim_end()).into();
        }
        _ => messages.insert(0, ChatMessage::new(Role::System, blocks)),
    }
    messages
}

fn full_context(path: &[Message], groups: &[CallGroup], inst: Inst<'_>, rebuild: bool) -> Vec<ChatMessage> {
    let inst = match inst {
        // The default text describes results, and costs what it costs only in the turn that has some.
        Inst::General(text) => text.filter(|text| !is_general_as_made(text) || has_new_result(path)),
        Inst::Planner(text) => text,
    };
    let (mut messages, mut at) = (Vec::new(), 0);
    while let Some(message) = path.get(at) {
        match answer_at(path, at, groups, rebuild) {
            Some((answer, end)) => {
                messages.extend(answer);
                at = end;
            }
            None => {
                messages.extend((!is_none(message)).then(|| chat_message(message)));
                at += 1;
            }
        }
    }
    messages.extend(inst.map(instruction));
    messages
}

pub fn instruction(text: &str) -> ChatMessage {
    ChatMessage { instruction: true, ..ChatMessage::new(Role::System, text) }
}

/// Returns messages for a command-line program, which has its own system prompt: without root and `general`;
/// and only the question, if nothing visible precedes it.
fn for_program(path: &[Message], inst: Inst<'_>, has_history: bool) -> Vec<ChatMessage> {
    // A stopped answer is hidden, and part of the talk.
    let is_seen = |message: &&Message| !message.hidden || message.role == Role::Assistant;
    // The program reads the repository's instructions on its own.
    let is_told = |message: &&Message| {
        !is_system_prompt(message) && !message.body.is_of_repository() && !is_none(message)
    };
    let form = path.iter().filter_map(read_form).next_back().filter(|_| has_form(path));
    let is_text = |message: &&Message| is_told(message) && read_form(message).is_none();
    let sent: Vec<&Message> = path.iter().filter(is_text).collect();
    let planner = match inst {
        Inst::General(_) => None,
        Inst::Planner(inst) => inst,
    };
    let is_alone = sent
        .split_last()
        .is_some_and(|(last, before)| last.role == Role::User && !before.iter().any(is_seen));
    let sent = match sent.last().filter(|_| is_alone && planner.is_none() && !has_history) {
        Some(question) => std::slice::from_ref(question),
        None => &sent,
    };
    let mut messages: Vec<ChatMessage> = sent.iter().map(|message| chat_message(message)).collect();
    let question = messages.iter_mut().rfind(|message| message.role == Role::User);
    if let (Some(question), Some(form), None) = (question, form, planner) {
        question.text = format!("{}\n\n{form}", question.text.trim_end()).into();
    }
    messages.extend(planner.map(instruction));
    messages
}

/// Returns messages for a small model: without insts, with the output of commands as the user's text, and
/// with adjacent messages of a role merged, except two questions.
///
/// Drops the default system prompt too: with it, the probabilities of the first tokens of an answer are so
/// close that a processor's rounding decides between them.
fn plain(path: &[Message]) -> Vec<ChatMessage> {
    let mut messages: Vec<ChatMessage> = Vec::new();
    let is_written = |message: &&Message| is_system_prompt(message) && !is_as_made(&message.text);
    if let Some(prompt) = path.first().filter(is_written) {
        messages.push(ChatMessage::new(Role::System, prompt.text.clone()));
    }
    let mut before = None;
    let is_told = |message: &&Message| {
        !is_system_prompt(message) && !message.body.is_of_repository() && !is_none(message)
    };
    for message in path.iter().filter(is_told) {
        // A question that was too long and never answered is not part of the next question.
        let is_anew = before.replace(message.role) == Some(Role::User) && message.role == Role::User;
        let role = match message.role {
            Role::Assistant => Role::Assistant,
            Role::System | Role::User | Role::Tool => Role::User,
        };
        match messages.last_mut() {
            Some(last) if last.role == role && !is_anew => {
                last.text = format!("{}\n\n{}", last.text, message.text).into();
            }
            _ => messages.push(ChatMessage::new(role, message.text.clone())),
        }
    }
    messages
}

fn chat_message(message: &Message) -> ChatMessage {
    let text = match message.role {
        Role::User => sent_text(&message.text, &message.files),
        _ => message.text.clone(),
    };
    ChatMessage { files: message.sent_files(), ..ChatMessage::new(message.role, text) }
}

/// Whether the chooser answered that no command is needed: the answer adds nothing to the question before it,
/// and a model that reads it answers in its format.
fn is_none(message: &Message) -> bool {
    message.body == Body::Choice(ChooserAnswer::None)
}

fn is_system_prompt(message: &Message) -> bool {
    message.is_root && message.hidden && message.role == Role::System && !message.body.is_of_repository()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::body::announcement;
    use super::super::message::fixture::path;
    use super::*;
    use lepo_model::{ProviderMessage, ToolCall};

    fn written(messages: &[ChatMessage]) -> String {
        let line = |message: &ChatMessage| {
            let calls: String =
                message.calls.iter().map(|call| format!("{}={}", call.id, call.name)).collect();
            let answers = message.call_id.iter().map(|id| format!("{id}:")).collect::<String>();
            let received = if message.replay.is_some() { "*" } else { "" };
            format!("{}{received} {answers}{}{calls}", message.role.as_str(), message.text)
        };
        messages.iter().map(line).collect::<Vec<_>>().join(" / ").replace("\n\n", "+")
    }

    #[test]
    fn each_provider_gets_its_own_view() {
        let general = Inst::General(Some("INST"));
        let planner = Inst::Planner(Some("PLAN"));
        use ConversationFormat::{Messages, Plain, Program, Prompted};
        for (text, inst, form, expected) in [
            ("s1 P / u0 hi", general, Messages, "system P / user hi / system INST"),
            ("s1 P / u0 hi", planner, Prompted, "system P / user hi / system PLAN"),
            ("s1 P / u0 hi", Inst::General(None), Messages, "system P / user hi"),
            (
                "s1 P / u0 a / a0 b / t1 c / u0 d",
                general,
                Messages,
                "system P / user a / assistant b / tool c / user d / system INST",
            ),
            (
                r#"u0 a / a1 {"access":"read","command":"ls"} / t1 b"#,
                Inst::General(None),
                Messages,
                "user a / assistant call_1=run_command / tool call_1:b",
            ),
            // … with its result only, and only where an API has such fields
            (
                r#"u0 a / a1 {"access":"read","command":"ls"}"#,
                Inst::General(None),
                Messages,
                r#"user a / assistant {"access":"read","command":"ls"}"#,
            ),
            (
                r#"u0 a / a1 {"access":"read","command":"ls"} / t1 b"#,
                Inst::General(None),
                Prompted,
                r#"user a / assistant {"access":"read","command":"ls"} / tool b"#,
            ),
            ("s1 P / u0 hi", general, Program, "user hi"),
            ("s1 P / s1 x / u0 hi", general, Program, "user hi"),
            (r#"s1 P / u0 hi / s1 {"tool":"none"}"#, general, Program, "user hi"),
            (
                r#"u0 hi / s1 {"tool":"command"} / s1 r / s1 {"tool":"none"}"#,
                general,
                Program,
                r#"user hi / system {"tool":"command"} / system r"#,
            ),
            (r#"u0 hi / s1 {"tool":"none"}"#, general, Messages, "user hi / system INST"),
            (
                r#"u0 hi / s1 {"tool":"none"} / a0 so / u0 and?"#,
                planner,
                Prompted,
                "user hi / assistant so / user and? / system PLAN",
            ),
            // Text of the user with this format is ordinary text.
            (r#"u0 {"tool":"none"}"#, general, Messages, r#"user {"tool":"none"} / system INST"#),
            (r#"u0 hi / s1 {"tool":"none"}"#, general, Plain, "user hi"),
            ("s1 P / s0 ran / u0 hi", general, Program, "system ran / user hi"),
            ("s1 P / u0 a / a0 b / u0 c", general, Program, "user a / assistant b / user c"),
            ("s1 P / u0 hi", planner, Program, "user hi / system PLAN"),
            ("s1 P / u0 a / a1 part / u0 go on", general, Program, "user a / assistant part / user go on"),
            (
                "s1 P / u0 a / a1 part / u0 go on",
                general,
                Plain,
                "system P / user a / assistant part / user go on",
            ),
            (
                "s1 P / u0 a / a1 part / u0 go on",
                Inst::General(None),
                Messages,
                "system P / user a / assistant part / user go on",
            ),
            ("u0 hi / s1 r", general, Program, "user hi / system r"),
            ("s1 P / u0 hi", general, Plain, "system P / user hi"),
            ("u0 hi", general, Plain, "user hi"),
            ("s1 P / s0 ran / u0 hi", general, Plain, "system P / user ran+hi"),
            ("s0 ran / u0 a / a0 b / u0 c", general, Plain, "user ran+a / assistant b / user c"),
            ("u0 a / s0 ran / u0 b / u0 c", general, Plain, "user a+ran+b / user c"),
            // A repository's instructions are for models that can call tools.
            (
                "s1 P / s1 [instructions of this repository] I / u0 a",
                general,
                Messages,
                "system P / system [instructions of this repository] I / user a / system INST",
            ),
            ("s1 P / s1 [instructions of this repository] I / u0 a", general, Plain, "system P / user a"),
            ("s1 [instructions of this repository] I / u0 a", general, Plain, "user a"),
            (
                "s1 P / s1 [instructions of this repository] I / u0 a / a0 b / u0 c",
                general,
                Program,
                "user a / assistant b / user c",
            ),
        ] {
            assert_eq!(written(&messages(&path(text), &[], inst, form, None)), expected, "{text}");
        }
    }

    #[test]
    fn a_small_model_gets_no_system_prompt_that_nobody_wrote() {
        use crate::config::{DEFAULT_SYSTEM_PROMPT, SHORT_SYSTEM_PROMPT};
        for prompt in [DEFAULT_SYSTEM_PROMPT, SHORT_SYSTEM_PROMPT] {
            let mut path = path("s1 P / u0 hi");
            path[0].text = prompt.into();
            let sent = messages(&path, &[], Inst::General(Some("INST")), ConversationFormat::Plain, None);
            assert_eq!(written(&sent), "user hi", "{prompt}");
        }
    }

    #[test]
    fn one_answer_is_one_message_with_all_its_calls() {
        let note = announcement(2).unwrap();
        let (ls, id) = (r#"{"access":"read","command":"ls"}"#, r#"{"access":"read","command":"id"}"#);
        let answer = format!("u0 q / a1 I look. / a1 {note} / a1 {ls} / t1 r / a1 {id} / t1 s");
        let call = |id: &str, command: &str| ToolCall {
            id: id.into(),
            name: "run_command".into(),
            arguments: json!({"command": command, "access": "read"}),
        };
        let received = ProviderMessage::new(json!("as received"));
        let live = |calls: Vec<ToolCall>| {
            vec![CallGroup { index: 1, calls, replay: Some(received.clone()), was_pending: false }]
        };
        let both = || vec![call("x", "ls"), call("y", "id")];
        let dropped = "dropped: it was not carried out, because a call before it ended the use of tools";
        for (text, called, expected) in [
            // made of the bubbs
            (
                answer.clone(),
                vec![],
                format!("user q / assistant I look.+{note}call_3=run_commandcall_5=run_command / tool call_3:r / tool call_5:s"),
            ),
            (
                format!("u0 q / a1 {ls} / t1 r / a1 {id} / t1 s"),
                vec![],
                "user q / assistant call_1=run_command / tool call_1:r / assistant call_3=run_command / tool call_3:s".into(),
            ),
            // as received
            (answer, live(both()), "user q / assistant* I look.x=run_commandy=run_command / tool x:r / tool y:s".into()),
            (
                format!("u0 q / a1 {note} / a1 {ls} / t1 refused / s1 dropped: 1"),
                live(both()),
                format!("user q / assistant* x=run_commandy=run_command / tool x:refused / tool y:{dropped} / system dropped: 1"),
            ),
            // edited, so not as received
            (
                format!("u0 q / a1 {ls} / a1 {id} / t1 s"),
                live(vec![call("x", "ls")]),
                format!("user q / assistant {ls}call_2=run_command / tool call_2:s"),
            ),
            // still waiting
            (format!("u0 q / a1 {ls}"), live(vec![call("x", "ls")]), format!("user q / assistant {ls}")),
        ] {
            let messages = messages(&path(&text), &called, Inst::General(None), ConversationFormat::Messages, None);
            assert_eq!(written(&messages), expected, "{text}");
        }
    }

    #[test]
    fn tools_are_told_at_the_end_of_the_system_prompt() {
        use ConversationFormat::{Plain, Program, Prompted};
        for (text, form, expected) in [
            ("s1 P / u0 hi", Prompted, "system P+BLOCKS / user hi / system INST"),
            ("u0 hi", Prompted, "system BLOCKS / user hi / system INST"),
            ("s0 ran / u0 hi", Prompted, "system BLOCKS / system ran / user hi / system INST"),
            ("s1 P / u0 hi", Program, "system BLOCKS / user hi"),
            ("s1 P / u0 hi", Plain, "system BLOCKS / system P / user hi"),
        ] {
            let inst = Inst::General(Some("INST"));
            assert_eq!(written(&messages(&path(text), &[], inst, form, Some("BLOCKS"))), expected, "{text}");
        }
    }
}
