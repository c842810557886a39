//! Prepares texts in the reading threads: shortens tools' texts and hashes each, so that the plan only
//! links them. A text to which the plan would add something stays for the plan.

use sha2::{Digest, Sha256};

use super::mask::mask;
use super::tool_detail::ToolDetail;
use lepo_import::{ImportNode, NodeContent};
use lepo_store::bubb::seems_to_name_a_blob;
use lepo_turn::is_request_text;

/// Returns the work on each node for the reading threads. `is_brief`: every conversation is imported with
/// [`ToolDetail::Brief`], so texts may be shortened.
pub fn finish(is_brief: bool) -> fn(&mut ImportNode) {
    match is_brief {
        true => |node| make_ready(node, true),
        false => |node| make_ready(node, false),
    }
}

/// Prepares a node. Unless `is_brief`, a text that would be shortened stays for the plan.
pub(super) fn make_ready(node: &mut ImportNode, is_brief: bool) {
    if node.ready.is_some() {
        return;
    }
    mask(&mut node.what);
    let mut hasher = Sha256::new();
    let text = match &mut node.what {
        NodeContent::Call { name, input, .. } if !name.starts_with('{') => {
            hasher.update(name.as_bytes());
            hasher.update(b"\n");
            cut(input, is_brief)
        }
        NodeContent::Output { text, files, .. } if files.is_empty() => cut(text, is_brief),
        NodeContent::Text(_, text, files) if files.is_empty() => Some(text),
        NodeContent::System(text)
        | NodeContent::Aside(_, text)
        | NodeContent::Side(_, text)
        | NodeContent::Exact(_, _, text) => Some(text),
        NodeContent::Nothing
        | NodeContent::Call { .. }
        | NodeContent::Output { .. }
        | NodeContent::Text(..) => None,
    };
    // A shortened text is neither: it contains a line of lepo's, and ends as the whole text does.
    let text = text.filter(|text| !is_request_text(text) && !seems_to_name_a_blob(text));
    node.ready = text.map(|text| hasher.chain_update(text.as_bytes()).finalize().into());
}

/// Returns a tool's text, shortened if `is_brief`; `None` leaves it to the plan.
fn cut(text: &mut String, is_brief: bool) -> Option<&mut String> {
    if !ToolDetail::Brief.keeps_whole(text) {
        if !is_brief || seems_to_name_a_blob(text) {
            return None;
        }
        *text = ToolDetail::Brief.cut(std::mem::take(text)).0;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{ImportRules, plan};
    use lepo_base::role::Role;
    use lepo_import::History;

    #[test]
    fn the_plan_is_the_same_whether_texts_are_ready_or_not() {
        let long = "x".repeat(5000);
        let call = |name: &str, input: &str| NodeContent::Call {
            id: "c".into(),
            name: name.into(),
            input: input.into(),
        };
        let output =
            |text: &str| NodeContent::Output { call: "c".into(), text: text.into(), files: Vec::new() };
        let request = r#"{"access":"full","command":"rm"}"#;
        let mut whole = History::default();
        let mut at = whole.add(None, Some(1), NodeContent::System("s".into()));
        for what in [
            NodeContent::Aside(Role::User, "waits".into()),
            call("waits", &long),
            NodeContent::Text(Role::User, "hi".into(), Vec::new()),
            call("f", &long),
            output(&long),
            output(&format!("{long}\n[8 bytes: _blobs/x]")),
            output(&format!("{long}[8 bytes: _blobs/x]{long}]")),
            output("[8 bytes: _blobs/x]"),
            call("{", request),
            call("f", request),
            output(request),
            output(""),
            NodeContent::Aside(Role::Assistant, request.into()),
            NodeContent::Text(Role::Assistant, request.into(), Vec::new()),
            NodeContent::Text(Role::Assistant, "see\n[8 bytes: _blobs/x]".into(), Vec::new()),
            NodeContent::Side(Role::User, "side".into()),
            NodeContent::Exact(Role::Tool, true, request.into()),
            NodeContent::Nothing,
        ] {
            at = whole.add(Some(at), Some(1), what);
        }
        // A second first message: the deferred nodes above it are used again.
        whole.add(Some(2), Some(1), NodeContent::Text(Role::User, "again".into(), Vec::new()));
        let bubbs = |conversation: &History, tools| {
            let rules = ImportRules { tools, date: None, now: 2, written: None };
            let bubbs = plan(conversation.clone(), &rules).bubbs;
            bubbs.into_iter().map(|bubb| (bubb.name, bubb.text, bubb.blobs)).collect::<Vec<_>>()
        };
        for is_brief in [true, false] {
            let mut ready = whole.clone();
            ready.nodes.iter_mut().for_each(finish(is_brief));
            assert!(ready.nodes.iter().any(|node| node.ready.is_some()));
            for tools in [ToolDetail::Brief, ToolDetail::None, ToolDetail::Full] {
                if tools == ToolDetail::Full && is_brief {
                    continue;
                }
                assert_eq!(bubbs(&ready, tools), bubbs(&whole, tools), "{tools:?}");
            }
        }
    }
}
