//! Texts made ready where they are read, on whichever thread that is: a tool's is cut, and each is hashed. The plan
//! then only links them. One to which the plan would add something is left to it.
//!
//! Where bubbs are only counted, of a text that is ready its first letter is kept, which says that there is one.

use sha2::{Digest, Sha256};

use super::attach::seems_to_name_a_blob;
use super::brief::Tools;
use super::conversation::{Node, What};
use super::masked::{mask, masked};
use super::plan::is_request;

/// The part of texts that is kept as soon as they are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Keep {
    /// Texts of tools are wanted as [`Tools::Brief`] keeps them, of every conversation: they may be cut.
    pub brief: bool,
    /// Bubbs are only counted: a text that is hashed is not wanted.
    pub counted: bool,
}

/// Makes the text of a node ready. If not all texts of tools are wanted brief, one that would be cut is left alone.
pub fn make_ready(node: &mut Node, keep: Keep) {
    if node.ready.is_some() {
        return;
    }
    mask(&mut node.what);
    let mut hasher = Sha256::new();
    let text = match &mut node.what {
        What::Call { name, input, .. } if !name.starts_with('{') => {
            hasher.update(name.as_bytes());
            hasher.update(b"\n");
            cut(input, keep.brief)
        }
        What::Output { text, files, .. } if files.is_empty() => cut(text, keep.brief),
        What::Text(_, text, files) if files.is_empty() => Some(text),
        What::System(text) | What::Aside(_, text) | What::Side(_, text) | What::Exact(_, _, text) => {
            Some(text)
        }
        What::Nothing | What::Call { .. } | What::Output { .. } | What::Text(..) => None,
    };
    // One that was cut is neither: it holds a line of its own, and its end is that of the whole.
    let text = text.filter(|text| !is_request(text) && !seems_to_name_a_blob(text));
    node.ready = text.map(|text| {
        let hash = hasher.chain_update(text.as_bytes()).finalize().into();
        if keep.counted {
            first_letter(text);
        }
        hash
    });
}

/// The text of a tool as it is kept, and its hash, if it is cut and [`make_ready`] would do the same.
pub fn cut_and_hashed(text: &str, keep: Keep) -> Option<(String, [u8; 32])> {
    if !keep.brief || Tools::Brief.keeps_whole(text) || seems_to_name_a_blob(text) {
        return None;
    }
    let text = &*masked(text);
    let mut cut = Tools::shortened(text);
    if is_request(&cut) || seems_to_name_a_blob(&cut) {
        return None;
    }
    let hash = Sha256::digest(cut.as_bytes()).into();
    if keep.counted {
        first_letter(&mut cut);
    }
    Some((cut, hash))
}

/// Keeps nothing of a ready text but that there is one.
pub fn forget(node: &mut Node) {
    if let (Some(_), What::Text(_, text, _) | What::Side(_, text)) = (node.ready, &mut node.what) {
        first_letter(text);
    }
}

/// In a new allocation: the one before is free as a whole.
fn first_letter(text: &mut String) {
    *text = text.chars().next().map(String::from).unwrap_or_default();
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
    use crate::import::{Conversation, Rules, plan};
    use lepo_store::bubb::Kind;

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
            What::Aside(Kind::User, "waits".into()),
            call("waits", &long),
            What::Text(Kind::User, "hi".into(), Vec::new()),
            call("f", &long),
            output(&long),
            output(&format!("{long}\n[8 bytes: _blobs/x]")),
            output(&format!("{long}[8 bytes: _blobs/x]{long}]")),
            output("[8 bytes: _blobs/x]"),
            call("{", request),
            call("f", request),
            output(request),
            output(""),
            What::Aside(Kind::Assistant, request.into()),
            What::Text(Kind::Assistant, request.into(), Vec::new()),
            What::Text(Kind::Assistant, "see\n[8 bytes: _blobs/x]".into(), Vec::new()),
            What::Side(Kind::User, "side".into()),
            What::Exact(Kind::Tool, true, request.into()),
            What::Nothing,
        ] {
            at = whole.add(Some(at), Some(1), what);
        }
        // A second beginning: the nodes that wait above it are used again.
        whole.add(Some(2), Some(1), What::Text(Kind::User, "again".into(), Vec::new()));
        let bubbs = |conversation: &Conversation, tools| {
            let rules = Rules { tools, date: None, now: 2 };
            let bubbs = plan(conversation.clone(), &rules).bubbs;
            bubbs.into_iter().map(|bubb| (bubb.name, bubb.text, bubb.blobs)).collect::<Vec<_>>()
        };
        let names = |conversation: &Conversation, tools| {
            bubbs(conversation, tools).into_iter().map(|(name, ..)| name).collect::<Vec<_>>()
        };
        for (brief, counted) in [(true, false), (false, false), (true, true), (false, true)] {
            let mut ready = whole.clone();
            ready.nodes.iter_mut().for_each(|node| make_ready(node, Keep { brief, counted }));
            assert!(ready.nodes.iter().any(|node| node.ready.is_some()));
            for tools in [Tools::Brief, Tools::None, Tools::Full] {
                if tools == Tools::Full && brief {
                    continue;
                }
                assert_eq!(names(&ready, tools), names(&whole, tools), "{tools:?}");
                if !counted {
                    assert_eq!(bubbs(&ready, tools), bubbs(&whole, tools), "{tools:?}");
                }
            }
        }
    }
}
