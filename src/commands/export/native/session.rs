//! A conversation as a sequence of messages, with the tool calls between them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::super::tree::{ExportTree, ExportedFile, TreeNode, is_prompt};
use lepo_base::hash::hex;
use lepo_base::role::Role;
use lepo_store::bubb::BubbId;
use lepo_tool::ToolRequest;
use lepo_turn::Body;

/// Maximum letters of a tool's name that the providers of both tools accept.
const NAME: usize = 64;

pub struct NativeSession<'t> {
    /// Id of its last message.
    pub id: BubbId,
    /// `None` if the user gave it no title.
    pub title: Option<&'t str>,
    /// The messages with content, oldest first.
    pub turns: Vec<NativeTurn<'t>>,
    prompt: Option<&'t TreeNode>,
}

/// A visible message with the tool calls that follow it.
pub struct NativeTurn<'t> {
    pub node: &'t TreeNode,
    /// Oldest first.
    pub calls: Vec<NativeCall<'t>>,
}

pub struct NativeCall<'t> {
    pub call: &'t TreeNode,
    pub result: &'t TreeNode,
    pub name: String,
    pub input: Value,
}

impl<'t> NativeSession<'t> {
    pub fn new(tree: &'t ExportTree, path: &[usize]) -> NativeSession<'t> {
        let shown: Vec<usize> = path.iter().copied().filter(|&at| tree.nodes[at].is_shown).collect();
        let tip = shown.last().map_or(tree.current, |&at| at);
        let mut turns = Vec::new();
        for (position, &at) in shown.iter().enumerate() {
            let node = &tree.nodes[at];
            let calls = calls(tree, at, shown.get(position + 1).copied());
            if !node.text.is_empty() || !node.files.is_empty() || !calls.is_empty() {
                turns.push(NativeTurn { node, calls });
            }
        }
        NativeSession {
            id: tree.nodes[tip].name.id,
            title: Some(tree.title.as_str()).filter(|_| tree.is_titled),
            turns,
            prompt: path.first().map(|&at| &tree.nodes[at]).filter(|node| is_prompt(node)),
        }
    }

    /// Builds every conversation of a tree: the path to each visible message without a visible descendant.
    pub fn every(tree: &'t ExportTree) -> Vec<NativeSession<'t>> {
        let mut is_followed = vec![false; tree.nodes.len()];
        // Parents precede their children.
        for at in (0..tree.nodes.len()).rev() {
            if let Some(parent) = tree.nodes[at].parent {
                is_followed[parent] |= is_followed[at] || tree.nodes[at].is_shown;
            }
        }
        let ends = (0..tree.nodes.len()).filter(|&at| tree.nodes[at].is_shown && !is_followed[at]);
        ends.map(|end| NativeSession::new(tree, &tree.path_to(end))).collect()
    }

    /// Returns facts that the formats have no field for, in a field that the tools ignore and an import
    /// reads.
    pub fn extra_fields(&self, turn: &NativeTurn<'_>, is_inside: impl Fn(&ExportedFile) -> bool) -> Value {
        let node = turn.node;
        let mut aside = Map::new();
        aside.insert("kind".into(), node.name.tag().into());
        if node.text.is_empty() {
            aside.insert("empty".into(), true.into());
        }
        if let Some(model) = &node.fact.model {
            aside.insert("model".into(), model.as_str().into());
        }
        let file = |attached: &ExportedFile| match is_inside(attached) {
            true => json!({ "name": attached.0.name }),
            false => json!({
                "name": attached.0.name, "mime": attached.0.media.mime(), "data": STANDARD.encode(&attached.1),
            }),
        };
        if !node.files.is_empty() {
            aside.insert("files".into(), node.files.iter().map(file).collect());
        }
        let says = |turn: &&NativeTurn<'_>| !turn.node.text.is_empty() || !turn.node.files.is_empty();
        let is_first = self.turns.iter().find(says).is_some_and(|first| std::ptr::eq(first, turn));
        if let Some(prompt) = self.prompt.filter(|_| is_first) {
            let time = moment(prompt.name.id.time());
            aside.insert("prompt".into(), json!({ "text": prompt.text, "timestamp": time }));
        }
        Value::Object(aside)
    }
}

/// Returns the calls below a message that belong to the answer that follows here: later than any earlier
/// answer, and earlier than this one.
fn calls(tree: &ExportTree, at: usize, next: Option<usize>) -> Vec<NativeCall<'_>> {
    let id = |at: usize| tree.nodes[at].name.id;
    let (mut hidden, mut shown) = (Vec::new(), Vec::new());
    let mut left = vec![at];
    while let Some(at) = left.pop() {
        for &child in &tree.nodes[at].children {
            match !tree.nodes[child].is_shown {
                true => {
                    hidden.push(child);
                    left.push(child);
                }
                false => shown.push(child),
            }
        }
    }
    let until = next.map(id);
    let from = shown.into_iter().map(id).filter(|&id| until.is_none_or(|until| id < until)).max();
    hidden.retain(|&at| until.is_none_or(|until| id(at) < until) && from.is_none_or(|from| id(at) > from));
    hidden.sort_by_key(|&at| id(at));
    hidden.into_iter().filter_map(|at| NativeCall::from_node(tree, at)).collect()
}

impl NativeCall<'_> {
    /// Parses a call; `None` without a result.
    fn from_node(tree: &ExportTree, at: usize) -> Option<NativeCall<'_>> {
        let call = &tree.nodes[at];
        if call.name.role != Role::Assistant {
            return None;
        }
        let results = call.children.iter().map(|&child| &tree.nodes[child]);
        let result = results.into_iter().find(|node| node.name.hidden && node.name.role == Role::Tool)?;
        let (name, input) = match Body::read_named(&call.name, &call.text).into_request() {
            Some(ToolRequest::Command(request)) => ("run_command".to_string(), request.to_json()),
            Some(ToolRequest::Call(request)) => (request.native_name(), Value::Object(request.arguments)),
            None => imported(&call.text),
        };
        Some(NativeCall { call, result, name, input })
    }
}

/// Parses a call as imports write it: the tool's name on a line, then its arguments, which may be cut.
fn imported(text: &str) -> (String, Value) {
    let (name, rest) = text.split_once('\n').unwrap_or(("", text));
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    let (name, rest) = if is_name { (name, rest) } else { ("tool", text) };
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let input = serde_json::from_str(rest).ok().filter(|input: &Value| is_name && input.is_object());
    (name.chars().take(NAME).map(letter).collect(), input.unwrap_or_else(|| json!({ "text": rest })))
}

pub fn moment(time: u64) -> String {
    let time = i64::try_from(time).ok().and_then(|time| Timestamp::from_millisecond(time).ok());
    format!("{:.3}", time.unwrap_or(Timestamp::MAX))
}

/// Converts the id to a UUID of version 7, whose time has the same position.
pub fn uuid(id: BubbId) -> String {
    let mut bytes = id.bytes();
    bytes[6] = bytes[6] & 0x0f | 0x70;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = hex(&bytes);
    [20, 16, 12, 8].into_iter().for_each(|at| text.insert(at, '-'));
    text
}

/// Returns the id of the session that ends with a message, distinct from the message's own.
pub fn session_id(id: BubbId) -> String {
    let mut bytes = id.bytes();
    bytes[15] = !bytes[15];
    uuid(BubbId::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_of_their_time() {
        let id = BubbId::parse(b"01K7NY8GJ80000000000000001").unwrap();
        assert_eq!(uuid(id), "0199ebe4-4248-7000-8000-000000000001");
        assert_eq!(session_id(id), "0199ebe4-4248-7000-8000-0000000000fe");
        let id = BubbId::parse(b"7ZZZZZZZZZZZZZZZZZZZZZZZZZ").unwrap();
        assert_eq!(uuid(id), "ffffffff-ffff-7fff-bfff-ffffffffffff");
        assert!(moment(id.time()).starts_with("9999-12-"), "{}", moment(id.time()));
    }

    #[test]
    fn a_call_of_another_tool_has_its_name_and_arguments() {
        for (text, name, input) in [
            ("Read\n{\"file_path\":\"a\"}", "Read", json!({ "file_path": "a" })),
            ("mcp.x/y\n{}", "mcp_x_y", json!({})),
            (
                "Read\n{\"cut\":\"[9 bytes left out]",
                "Read",
                json!({ "text": "{\"cut\":\"[9 bytes left out]" }),
            ),
            ("Read\n[1]", "Read", json!({ "text": "[1]" })),
            ("words of a thought\nmore", "tool", json!({ "text": "words of a thought\nmore" })),
            ("", "tool", json!({ "text": "" })),
            ("\n{}", "tool", json!({ "text": "\n{}" })),
        ] {
            assert_eq!(imported(text), (name.to_string(), input), "{text}");
        }
        assert_eq!(imported(&format!("{}\n{{}}", "한".repeat(100))).0, "_".repeat(NAME));
    }
}
