//! The part of a request that the request before it in the same conversation had too, which a server's cache finds.

use super::assembly::path_messages;
use super::former_tools::tool_hashes;
use super::message::Message;
use super::tools::ToolList;
use super::turn::Turn;
use lepo_model::{ChatMessage, ToolSpec};
use lepo_tool::mcp::native_name;

/// The share of the last request that this one begins with, and the first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPrefix {
    /// Its unit is a byte.
    pub percent: u8,
    /// `tools: server time is new`; `None` if this request has all of it.
    pub difference: Option<String>,
}

impl SharedPrefix {
    /// Compares a request with the last one of the conversation, by its messages and the journal. `loaded` is the
    /// number of messages before this turn. `None` without an answer. Calls of the last turn, which left the conversation,
    /// are in neither.
    pub(super) fn new(turn: &Turn<'_>, loaded: usize, tools: &ToolList) -> Option<SharedPrefix> {
        let path = &turn.path;
        let before = path.messages.get(..loaded)?;
        let answer = before.iter().rposition(Message::is_answer)?;
        let fact = turn.env.store.journal().index().get(path.id_at(answer)?)?;
        let asked = before.get(..answer)?;
        let messages =
            |messages: &[Message]| path_messages(messages, &path.call_groups, tools, turn.target());
        let changes = tool_hashes(turn, tools).changes_since(fact.tools.as_ref());
        let is_model = fact.model.as_deref() == Some(turn.config.name.as_str());
        let model = (!is_model).then(|| format!("model: it was {}", fact.model.unwrap_or_default()));
        Some(compared(model, &changes, &tools.specs, (&messages(asked), &messages(&path.messages))))
    }
}

/// Servers read the tools first, and then the messages.
fn compared(
    model: Option<String>,
    changes: &[(String, &'static str)],
    tools: &[ToolSpec],
    (last, now): (&[ChatMessage], &[ChatMessage]),
) -> SharedPrefix {
    let of_tool = |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.schema.to_string().len();
    let is_of =
        |tool: &ToolSpec, name: &str| tool.name == name || tool.name.starts_with(&native_name(name, ""));
    let is_known = |tool: &ToolSpec| !changes.iter().any(|(name, _)| name == "all" || is_of(tool, name));
    let tool_bytes: usize = tools.iter().filter(|tool| is_known(tool)).map(of_tool).sum();
    let equal = last.iter().zip(now).take_while(|(a, b)| a == b).count();
    let bytes = |messages: &[ChatMessage]| messages.iter().map(|message| message.text.len()).sum::<usize>();
    let whole = tool_bytes + bytes(last);
    let (shared, difference) = match (model, changes.first()) {
        (Some(model), _) => (0, Some(model)),
        (None, Some((name, change))) => {
            let shared = tools.iter().take_while(|tool| is_known(tool)).map(of_tool).sum();
            (shared, Some(format!("tools: server {name} {change}")))
        }
        (None, None) => {
            let shared = tool_bytes + bytes(last.get(..equal).unwrap_or_default());
            (shared, last.get(equal).map(|message| describe(equal, message)))
        }
    };
    SharedPrefix { percent: (shared * 100).checked_div(whole).unwrap_or(100).min(100) as u8, difference }
}

/// Names a message that this request does not have, or has otherwise.
fn describe(index: usize, message: &ChatMessage) -> String {
    match message.instruction {
        true => "the instruction at its end".to_string(),
        false => format!("message {} ({})", index + 1, message.role.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::role::Role;

    #[test]
    fn the_first_difference_is_named_and_what_is_before_it_counts() {
        let message = |text: &str| ChatMessage::new(Role::User, text);
        let inst = ChatMessage { instruction: true, ..message("inst") };
        let tool = |name: &str| ToolSpec { name: name.into(), description: "12".into(), schema: 1.into() };
        let (a, b) = (tool("run_command"), tool(&native_name("time", "now")));
        let last = [message("one"), message("two")];
        let longer = [message("one"), message("two"), message("three")];
        let other = [message("one"), message("2"), message("three")];
        let ended = [message("one"), message("two"), inst];
        for (model, changes, tools, last, now, percent, difference) in [
            (None, vec![], vec![], &last[..], &longer[..], 100, None),
            (None, vec![], vec![], &last, &other, 50, Some("message 2 (user)")),
            (None, vec![], vec![], &ended, &longer, 60, Some("the instruction at its end")),
            (Some("model: it was b"), vec![], vec![], &last, &longer, 0, Some("model: it was b")),
            (
                None,
                vec![("time", "is new")],
                vec![&a, &b],
                &last,
                &longer,
                70,
                Some("tools: server time is new"),
            ),
            (
                None,
                vec![("run_command", "is new")],
                vec![&a, &b],
                &last,
                &longer,
                0,
                Some("tools: server run_command is new"),
            ),
        ] {
            let changes: Vec<(String, &'static str)> =
                changes.into_iter().map(|(name, change)| (name.to_string(), change)).collect();
            let tools: Vec<ToolSpec> = tools.into_iter().cloned().collect();
            let found = compared(model.map(str::to_string), &changes, &tools, (last, now));
            assert_eq!((found.percent, found.difference.as_deref()), (percent, difference));
        }
    }
}
