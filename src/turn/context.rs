//! What a model sees: exactly one path from the root, one bubb one message, and the inst last.
//!
//! Last, so that all requests of a turn share their beginning and every server's prompt cache works.

use super::attach::sent_text;
use super::native::call_of;
use super::transcript::Said;
use crate::bubb::Kind;
use crate::model::{Message, PathForm, Role};

/// Which instruction goes with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inst<'i> {
    /// `general`.
    General(Option<&'i str>),
    /// `toolChooser`, `commandWriter`.
    Planner(Option<&'i str>),
}

/// The messages of one request. `blocks` are tools told in words, at the end of the system prompt.
pub fn messages(said: &[Said], inst: Inst<'_>, form: PathForm, blocks: Option<&str>) -> Vec<Message> {
    let mut messages = match form {
        PathForm::Messages => with_calls(said, inst),
        PathForm::Prompted => whole(said, inst),
        PathForm::Program => for_program(said, inst, blocks.is_some()),
        PathForm::Plain => plain(said),
    };
    let Some(blocks) = blocks else { return messages };
    let prompt = said.first().is_some_and(is_system_prompt) && form == PathForm::Prompted;
    match messages.first_mut() {
        Some(first) if prompt => {
            first.text = format!("{}\n\n{blocks}", first.text.trim_end()).into();
        }
        _ => messages.insert(0, Message::new(Role::System, blocks)),
    }
    messages
}

fn whole(said: &[Said], inst: Inst<'_>) -> Vec<Message> {
    let (Inst::General(inst) | Inst::Planner(inst)) = inst;
    let path = said.iter().map(message);
    path.chain(inst.map(|inst| Message::new(Role::System, inst))).collect()
}

/// A call with its result behind it is one in the API's own fields too.
fn with_calls(said: &[Said], inst: Inst<'_>) -> Vec<Message> {
    let mut messages = whole(said, inst);
    for (place, pair) in said.windows(2).enumerate() {
        let [asked, result] = pair else { continue };
        let is_call =
            asked.hidden && asked.kind == Kind::Assistant && result.hidden && result.kind == Kind::Tool;
        if let Some(call) = call_of(&asked.text, place).filter(|_| is_call) {
            messages[place + 1].call_id = Some(call.id.clone());
            messages[place] = Message { calls: vec![call], ..Message::new(Role::Assistant, "") };
        }
    }
    messages
}

/// Such programs have a system prompt of their own: no root, no `general`; and the question alone
/// where nothing visible came before it.
fn for_program(said: &[Said], inst: Inst<'_>, told: bool) -> Vec<Message> {
    let path: Vec<&Said> = said.iter().filter(|said| !is_system_prompt(said)).collect();
    let planner = match inst {
        Inst::General(_) => None,
        Inst::Planner(inst) => inst,
    };
    let alone = match path.split_last() {
        Some((last, before)) => last.kind == Kind::User && before.iter().all(|said| said.hidden),
        None => false,
    };
    let kept = if alone && planner.is_none() && !told { path.len() - 1 } else { 0 };
    let path = path.iter().skip(kept).map(|said| message(said));
    path.chain(planner.map(|inst| Message::new(Role::System, inst))).collect()
}

/// It answers worse with any system message: the root and insts stay out, what a command printed is
/// the user's word, and neighbours of one role are one message.
fn plain(said: &[Said]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for said in said.iter().filter(|said| !is_system_prompt(said)) {
        let role = match said.kind {
            Kind::Assistant => Role::Assistant,
            Kind::System | Kind::User | Kind::Tool => Role::User,
        };
        match messages.last_mut() {
            Some(last) if last.role == role => {
                last.text = format!("{}\n\n{}", last.text, said.text).into();
            }
            _ => messages.push(Message::new(role, said.text.clone())),
        }
    }
    messages
}

fn message(said: &Said) -> Message {
    let files = said.files.iter().filter_map(|attached| attached.file.clone()).collect();
    Message { files, ..Message::new(role(said.kind), sent_text(&said.text, &said.files)) }
}

fn is_system_prompt(said: &Said) -> bool {
    said.root && said.hidden && said.kind == Kind::System
}

fn role(kind: Kind) -> Role {
    match kind {
        Kind::System => Role::System,
        Kind::User => Role::User,
        Kind::Assistant => Role::Assistant,
        Kind::Tool => Role::Tool,
    }
}

#[cfg(test)]
mod tests {
    use super::super::transcript::fixture::path;
    use super::*;

    fn written(messages: &[Message]) -> String {
        let line = |message: &Message| {
            let calls: String =
                message.calls.iter().map(|call| format!("{}={}", call.id, call.name)).collect();
            let answers = message.call_id.iter().map(|id| format!("{id}:")).collect::<String>();
            format!("{} {answers}{}{calls}", message.role.word(), message.text)
        };
        messages.iter().map(line).collect::<Vec<_>>().join(" / ").replace("\n\n", "+")
    }

    #[test]
    fn each_provider_gets_its_own_view() {
        let general = Inst::General(Some("INST"));
        let planner = Inst::Planner(Some("PLAN"));
        use PathForm::{Messages, Plain, Program, Prompted};
        for (said, inst, form, expected) in [
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
            ("s1 P / s0 ran / u0 hi", general, Program, "system ran / user hi"),
            ("s1 P / u0 a / a0 b / u0 c", general, Program, "user a / assistant b / user c"),
            ("s1 P / u0 hi", planner, Program, "user hi / system PLAN"),
            ("u0 hi / s1 r", general, Program, "user hi / system r"),
            ("s1 P / u0 hi", general, Plain, "user hi"),
            ("s1 P / s0 ran / u0 hi", general, Plain, "user ran+hi"),
            ("s0 ran / u0 a / a0 b / u0 c", general, Plain, "user ran+a / assistant b / user c"),
        ] {
            assert_eq!(written(&messages(&path(said), inst, form, None)), expected, "{said}");
        }
    }

    #[test]
    fn tools_are_told_at_the_end_of_the_system_prompt() {
        use PathForm::{Plain, Program, Prompted};
        for (said, form, expected) in [
            ("s1 P / u0 hi", Prompted, "system P+BLOCKS / user hi / system INST"),
            ("u0 hi", Prompted, "system BLOCKS / user hi / system INST"),
            ("s0 ran / u0 hi", Prompted, "system BLOCKS / system ran / user hi / system INST"),
            ("s1 P / u0 hi", Program, "system BLOCKS / user hi"),
            ("s1 P / u0 hi", Plain, "system BLOCKS / user hi"),
        ] {
            let inst = Inst::General(Some("INST"));
            assert_eq!(written(&messages(&path(said), inst, form, Some("BLOCKS"))), expected, "{said}");
        }
    }
}
