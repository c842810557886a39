//! Conversations as lines of JSON, as `lepo-import-db` prints them.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::attach;
use super::conversation::{History, ImportNode, ImportedFile, NodeContent};
use super::json::JsonValue;
use super::source::SourceReader;
use super::time;
use super::tree::cut_circles;
use super::value_reader::ValueReader;
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Formats a conversation as a line.
pub fn line(format: &str, conversation: &History) -> String {
    let nodes: Vec<Json> = conversation.nodes.iter().map(node).collect();
    let labels: Vec<Json> = conversation.labels.iter().map(|(label, node)| json!([label, node])).collect();
    json!({
        "format": format, "id": conversation.id, "title": conversation.title, "start": conversation.start,
        "grows": conversation.grows, "count": conversation.messages, "labels": labels, "nodes": nodes,
        "dir": conversation.dir, "updated": conversation.updated, "passed": conversation.skipped,
    })
    .to_string()
}

fn node(node: &ImportNode) -> Json {
    let mut json = match &node.what {
        NodeContent::Nothing => json!({}),
        NodeContent::System(text) => json!({ "what": "system", "text": text }),
        NodeContent::Text(role, text, files) => {
            json!({ "what": "text", "kind": role.letter(), "text": text, "files": files.iter().map(file).collect::<Vec<_>>() })
        }
        NodeContent::Aside(role, text) => json!({ "what": "aside", "kind": role.letter(), "text": text }),
        NodeContent::Call { id, name, input } => {
            json!({ "what": "call", "id": id, "name": name, "text": input })
        }
        NodeContent::Output { call, text, files } => {
            json!({ "what": "output", "id": call, "text": text, "files": files.iter().map(file).collect::<Vec<_>>() })
        }
        NodeContent::Side(role, text) => json!({ "what": "side", "kind": role.letter(), "text": text }),
        NodeContent::Exact(role, hidden, text) => {
            json!({ "what": "exact", "kind": role.letter(), "hidden": hidden, "text": text })
        }
    };
    for (key, value) in [
        ("parent", json!(node.parent)),
        ("time", json!(node.time)),
        ("model", json!(node.model)),
        ("input", json!(node.input)),
        ("output", json!(node.output)),
    ] {
        if !value.is_null() {
            json[key] = value;
        }
    }
    if node.last {
        json["last"] = true.into();
    }
    json
}

fn file(file: &ImportedFile) -> Json {
    let data = file.data.as_ref().map(|bytes| STANDARD.encode(bytes));
    json!({ "name": file.name, "mime": file.mime, "data": data })
}

/// Reads the conversations of such lines.
pub fn read_stream(
    from: impl Read,
    reading: &mut SourceReader,
    each: &mut dyn FnMut(&str, History) -> Result<()>,
) -> Result<()> {
    let mut values = ValueReader::lines(from);
    while let Some(value) = reading.next(&mut values)? {
        let skipped = value.get("skipped");
        if let Some(reason) = skipped.non_empty() {
            reading.tally.skip(&reason, value.get("count").count().unwrap_or(1));
            continue;
        }
        let format = value.get("format").string();
        each(&format, conversation(value))?;
    }
    Ok(())
}

fn conversation(value: JsonValue<'_>) -> History {
    let mut nodes: Vec<ImportNode> = value.get("nodes").items().map(read_node).collect();
    let count = nodes.len();
    let mut parents: Vec<Option<usize>> =
        nodes.iter().map(|node| node.parent.filter(|&parent| parent < count)).collect();
    cut_circles(&mut parents, |_| "");
    for (node, parent) in nodes.iter_mut().zip(parents) {
        node.parent = parent;
    }
    let label = |pair: JsonValue<'_>| {
        let mut pair = pair.items();
        Some((pair.next()?.non_empty()?, pair.next()?.count()? as usize))
    };
    History {
        id: value.get("id").string(),
        title: value.get("title").non_empty(),
        start: time::millis(value.get("start")),
        dir: value.get("dir").non_empty(),
        grows: value.get("grows").is_true(),
        copy: false,
        messages: value.get("count").count().unwrap_or(0),
        labels: value.get("labels").items().filter_map(label).collect(),
        nodes,
        updated: time::millis(value.get("updated")),
        skipped: value
            .get("passed")
            .fields()
            .map(|(reason, count)| (reason.string(), count.count().unwrap_or(1)))
            .collect(),
        responses: Vec::new(),
    }
}

fn read_node(value: JsonValue<'_>) -> ImportNode {
    let role = value.get("kind").text().and_then(|role| Role::from_letter(*role.as_bytes().first()?));
    let role = role.unwrap_or(Role::Assistant);
    let text = value.get("text").string();
    let files = || value.get("files").items().map(read_file).collect();
    let what = match &*value.get("what").text().unwrap_or_default() {
        "system" => NodeContent::System(text),
        "text" => NodeContent::Text(role, text, files()),
        "aside" => NodeContent::Aside(role, text),
        "call" => {
            NodeContent::Call { id: value.get("id").string(), name: value.get("name").string(), input: text }
        }
        "output" => NodeContent::Output { call: value.get("id").string(), text, files: files() },
        "side" => NodeContent::Side(role, text),
        "exact" => NodeContent::Exact(role, value.get("hidden").is_true(), text),
        _ => NodeContent::Nothing,
    };
    ImportNode {
        parent: value.get("parent").count().map(|parent| parent as usize),
        time: time::millis(value.get("time")),
        what,
        model: value.get("model").non_empty(),
        input: value.get("input").count(),
        output: value.get("output").count(),
        last: value.get("last").is_true(),
        ready: None,
    }
}

fn read_file(value: JsonValue<'_>) -> ImportedFile {
    let (name, mime) = (value.get("name").string(), value.get("mime").string());
    match value.get("data").text() {
        Some(data) => attach::base64(&name, &mime, &data),
        None => attach::missing_file(&name, &mime),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_comes_through_as_it_is() {
        let mut sent = History {
            id: "7".into(),
            title: Some("T".into()),
            start: Some(5),
            dir: Some("/w".into()),
            grows: true,
            ..History::default()
        };
        let png =
            ImportedFile { name: "a.png".into(), mime: "image/png".into(), data: Some(b"\x89PNG".to_vec()) };
        let mut at = None;
        for what in [
            NodeContent::System("s".into()),
            NodeContent::Text(Role::User, "한글".into(), vec![png, attach::missing_file("b", "text/plain")]),
            NodeContent::Aside(Role::Assistant, "hm".into()),
            NodeContent::Call { id: "c".into(), name: "f".into(), input: "{}".into() },
            NodeContent::Output { call: "c".into(), text: "r".into(), files: vec![] },
            NodeContent::Side(Role::User, "x".into()),
            NodeContent::Exact(Role::Tool, false, "t".into()),
            NodeContent::Nothing,
        ] {
            at = Some(sent.add(at, Some(9), what));
        }
        sent.answered_by(0, Some("m"), Some(1), Some(2));
        sent.labels.push(("start".into(), 1));
        sent.updated = Some(8);
        sent.unknown_content();
        let line = line("llm", &sent);
        let mut got = Vec::new();
        read_stream(line.as_bytes(), &mut SourceReader::default(), &mut |format, conversation| {
            got.push((format.to_string(), format!("{conversation:?}")));
            Ok(())
        })
        .unwrap();
        assert_eq!(got, [("llm".to_string(), format!("{sent:?}"))]);
    }
}
