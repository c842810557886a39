//! Requests of a model and their results, in the form of an editor's tool calls.

use serde_json::json;

use crate::term::excerpt_within;
use crate::ui::{in_fence, request_title};
use lepo_acp::update::{AcpToolCall, ToolCallStatus, ToolKind};
use lepo_store::bubb::BubbName;
use lepo_tool::ToolRequest;
use lepo_turn::Body;

/// The limit, in bytes, of a result and of a tool's arguments; the messages in the store are complete.
const SHOWN: usize = 48 << 10;

/// Returns the tool call of a hidden bubb; `None` if the bubb is something else.
pub fn request_call(name: &BubbName, text: &str) -> Option<AcpToolCall> {
    let (title, kind, input) = match Body::read_named(name, text) {
        Body::Request(request) => {
            let kind = match &*request {
                ToolRequest::Command(_) => ToolKind::Execute,
                ToolRequest::Call(call) if call.tool.contains("fetch") => ToolKind::Fetch,
                ToolRequest::Call(_) => ToolKind::Other,
            };
            (request_title(&request), kind, request.to_json())
        }
        Body::Call { name, arguments } => (excerpt_within(&name, 120), ToolKind::Other, arguments),
        _ => return None,
    };
    let is_short = input.to_string().len() <= SHOWN;
    Some(AcpToolCall {
        id: name.id.to_string(),
        title: Some(title),
        kind: Some(kind),
        status: Some(ToolCallStatus::Pending),
        input: Some(if is_short {
            input
        } else {
            json!({ "left_out": "too long to show here; see `lepo show -a`" })
        }),
        ..AcpToolCall::default()
    })
}

/// Returns the update for a result: success or failure, and the text.
pub fn result_call(text: &str) -> AcpToolCall {
    let end = text.floor_char_boundary(SHOWN);
    let (shown, rest) = text.split_at(end);
    let mut fenced = in_fence(shown);
    if !rest.is_empty() {
        fenced.push_str(&format!("\n\n{} more bytes: see `lepo show -a`", rest.len()));
    }
    let mut output = json!({ "text": shown });
    let exit = exit_code(text);
    if let Some(exit) = exit {
        output["exit"] = exit.into();
    }
    let failed = ["refused:", "error:", "interrupted:"].iter().any(|begin| text.starts_with(begin));
    let is_bad = failed || exit.is_some_and(|exit| exit != 0);
    AcpToolCall {
        status: Some(if is_bad { ToolCallStatus::Failed } else { ToolCallStatus::Completed }),
        texts: Some(vec![fenced]),
        output: Some(output),
        ..AcpToolCall::default()
    }
}

/// Parses the exit code from the result of a command, on a line after the command.
fn exit_code(text: &str) -> Option<i64> {
    let lines = text.strip_prefix("$ ")?.lines();
    lines.filter_map(|line| line.strip_prefix("exit code: ")).find_map(|code| code.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::role::Role;
    use lepo_store::bubb::BubbId;

    #[test]
    fn results_tell_how_they_ended() {
        for (text, status, exit) in [
            ("$ ls\nexit code: 0\nstdout:\nexit code: 7", ToolCallStatus::Completed, Some(0)),
            ("$ false\nexit code: 1", ToolCallStatus::Failed, Some(1)),
            ("refused: the user said no", ToolCallStatus::Failed, None),
            ("exit code: 1", ToolCallStatus::Completed, None),
            ("", ToolCallStatus::Completed, None),
        ] {
            let call = result_call(text);
            assert_eq!((call.status, call.output.unwrap()["exit"].as_i64()), (Some(status), exit), "{text}");
        }
        let long = result_call(&"한".repeat(SHOWN));
        assert!(json!(long).to_string().len() < 1 << 20);
    }

    #[test]
    fn calls_of_others_are_shown_too() {
        let id = BubbId::parse(b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A").unwrap();
        let name = BubbName { id, role: Role::Assistant, hidden: true, prev: None };
        let title = |text: &str| request_call(&name, text).and_then(|call| call.title);
        assert_eq!(title(r#"{"access":"read","command":"ls -l"}"#).as_deref(), Some("ls -l"));
        assert_eq!(title(r#"{"arguments":{"path":"a"},"name":"Read"}"#).as_deref(), Some("Read"));
        for other in ["words", "{}", r#"{"name":"a"}"#, r#"{"arguments":{},"name":"a","more":1}"#, "[]"] {
            assert_eq!(title(other), None, "{other}");
        }
    }
}
