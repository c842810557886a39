//! Texts made ready where they are read, on whichever thread that is: a tool's is cut, and each is hashed. The plan
//! then only links them. One to which the plan would add something is left to it.

use sha2::{Digest, Sha256};

use super::brief::Tools;
use super::files::seems_to_name_a_blob;
use super::masked::mask;
use super::plan::is_request;
use lepo_import::{Node, What};

/// The work on each node that the threads do that read it. `brief`: texts of tools are wanted as [`Tools::Brief`] keeps
/// them, of every conversation, so that they may be cut.
pub fn finish(brief: bool) -> fn(&mut Node) {
    match brief {
        true => |node| make_ready(node, true),
        false => |node| make_ready(node, false),
    }
}

/// Makes the text of a node ready. If not all texts of tools are wanted brief, one that would be cut is left alone.
pub(super) fn make_ready(node: &mut Node, brief: bool) {
    if node.ready.is_some() {
        return;
    }
    mask(&mut node.what);
    let mut hasher = Sha256::new();
    let text = match &mut node.what {
        What::Call { name, input, .. } if !name.starts_with('{') => {
            hasher.update(name.as_bytes());
            hasher.update(b"\n");
            cut(input, brief)
        }
        What::Output { text, files, .. } if files.is_empty() => cut(text, brief),
        What::Text(_, text, files) if files.is_empty() => Some(text),
        What::System(text) | What::Aside(_, text) | What::Side(_, text) | What::Exact(_, _, text) => {
            Some(text)
        }
        What::Nothing | What::Call { .. } | What::Output { .. } | What::Text(..) => None,
    };
    // One that was cut is neither: it holds a line of its own, and its end is that of the whole.
    let text = text.filter(|text| !is_request(text) && !seems_to_name_a_blob(text));
    node.ready = text.map(|text| hasher.chain_update(text.as_bytes()).finalize().into());
}

/// A tool's text as it is kept; `None` if that is left to the plan.
fn cut(text: &mut String, brief: bool) -> Option<&mut String> {
    if !Tools::Brief.keeps_whole(text) {
        if !brief || seems_to_name_a_blob(text) {
            return None;
        }
        *text = Tools::Brief.cut(std::mem::take(text)).0;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Rules, plan};
    use lepo_import::{Conversation, Role};

    #[test]
    fn the_plan_is_the_same_whether_texts_are_ready_or_not() {
        let long = "x".repeat(5000);
        let call =
            |name: &str, input: &str| What::Call { id: "c".into(), name: name.into(), input: input.into() };
        let output = |text: &str| What::Output { call: "c".into(), text: text.into(), files: Vec::new() };
        let request = r#"{"access":"full","command":"rm"}"#;
        let mut whole = Conversation::default();
        let mut at = whole.add(None, Some(1), What::System("s".into()));
        for what in [
            What::Aside(Role::User, "waits".into()),
            call("waits", &long),
            What::Text(Role::User, "hi".into(), Vec::new()),
            call("f", &long),
            output(&long),
            output(&format!("{long}\n[8 bytes: _blobs/x]")),
            output(&format!("{long}[8 bytes: _blobs/x]{long}]")),
            output("[8 bytes: _blobs/x]"),
            call("{", request),
            call("f", request),
            output(request),
            output(""),
            What::Aside(Role::Assistant, request.into()),
            What::Text(Role::Assistant, request.into(), Vec::new()),
            What::Text(Role::Assistant, "see\n[8 bytes: _blobs/x]".into(), Vec::new()),
            What::Side(Role::User, "side".into()),
            What::Exact(Role::Tool, true, request.into()),
            What::Nothing,
        ] {
            at = whole.add(Some(at), Some(1), what);
        }
        // A second beginning: the nodes that wait above it are used again.
        whole.add(Some(2), Some(1), What::Text(Role::User, "again".into(), Vec::new()));
        let bubbs = |conversation: &Conversation, tools| {
            let rules = Rules { tools, date: None, now: 2, written: None };
            let bubbs = plan(conversation.clone(), &rules).bubbs;
            bubbs.into_iter().map(|bubb| (bubb.name, bubb.text, bubb.blobs)).collect::<Vec<_>>()
        };
        for brief in [true, false] {
            let mut ready = whole.clone();
            ready.nodes.iter_mut().for_each(finish(brief));
            assert!(ready.nodes.iter().any(|node| node.ready.is_some()));
            for tools in [Tools::Brief, Tools::None, Tools::Full] {
                if tools == Tools::Full && brief {
                    continue;
                }
                assert_eq!(bubbs(&ready, tools), bubbs(&whole, tools), "{tools:?}");
            }
        }
    }
}
