//! Writes conversations in the formats of other tools: `messages`, `chatgpt`, `openwebui`, `pi`.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::args::ExportArgs;
use super::format::ExportFormat;
use super::native::moment;
use super::output::Document;
use super::tree::{ExportTree, TreeNode, exported_trees, id_of, is_prompt, tag};
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::store::Store;

/// Returns the documents of the exported trees: a single document, or one for each tree.
pub fn documents(
    args: &ExportArgs,
    format: ExportFormat,
    store: &Store,
    cwd: &Path,
) -> Result<Vec<Document>> {
    let (trees, cwd) = (exported_trees(args, store)?, cwd.to_string_lossy());
    let text = match format {
        ExportFormat::Chatgpt => format!("{:#}\n", trees.iter().map(chatgpt).collect::<Value>()),
        ExportFormat::Openwebui => format!("{:#}\n", trees.iter().map(openwebui).collect::<Value>()),
        ExportFormat::Pi => {
            let session =
                |tree: &ExportTree| Document { stem: id_of_tree(tree), text: pi(tree, &cwd).into_bytes() };
            return Ok(trees.iter().map(session).collect());
        }
        _ if args.all => trees.iter().flat_map(every_conv).collect(),
        _ => trees.iter().map(|tree| lines(tree, &tree.path())).collect(),
    };
    Ok(vec![Document { stem: "conversations".to_string(), text: text.into_bytes() }])
}

fn id_of_tree(tree: &ExportTree) -> String {
    tree.id().to_lowercase()
}

fn role(node: &TreeNode) -> &'static str {
    node.name.role.as_str()
}

fn data_url(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", STANDARD.encode(bytes))
}

fn seconds(time: u64) -> Value {
    serde_json::from_str(&format!("{}.{:03}", time / 1000, time % 1000)).unwrap_or_default()
}

fn lines(tree: &ExportTree, path: &[usize]) -> String {
    path.iter().map(|&at| format!("{}\n", message(&tree.nodes[at]))).collect()
}

fn every_conv(tree: &ExportTree) -> Vec<String> {
    let leaves = (0..tree.nodes.len()).filter(|&at| tree.nodes[at].children.is_empty());
    let conv = |leaf: usize| {
        let messages: Vec<Value> =
            tree.path_to(leaf).into_iter().map(|at| message(&tree.nodes[at])).collect();
        format!("{}\n", json!({ "messages": messages }))
    };
    leaves.map(conv).collect()
}

fn message(node: &TreeNode) -> Value {
    if node.files.is_empty() {
        return json!({ "role": role(node), "content": node.text });
    }
    let mut parts = vec![json!({ "type": "text", "text": node.text })];
    for (file, bytes) in &node.files {
        let url = data_url(file.media.mime(), bytes);
        parts.push(match file.media.is_image() {
            true => json!({ "type": "image_url", "image_url": { "url": url }, "name": file.name }),
            false => json!({ "type": "file", "file": { "filename": file.name, "file_data": url } }),
        });
    }
    json!({ "role": role(node), "content": parts })
}

fn chatgpt(tree: &ExportTree) -> Value {
    const ROOT: &str = "client-created-root";
    let mut mapping = Map::new();
    let id = |at: usize| id_of(tree.nodes[at].name.id);
    let roots: Vec<String> =
        (0..tree.nodes.len()).filter(|&at| tree.nodes[at].parent.is_none()).map(id).collect();
    mapping.insert(ROOT.into(), json!({ "id": ROOT, "message": null, "parent": null, "children": roots }));
    for (at, node) in tree.nodes.iter().enumerate() {
        let mut metadata = Map::new();
        if let Some(model) = &node.fact.model {
            metadata.insert("model_slug".into(), model.as_str().into());
        }
        if is_prompt(node) {
            metadata.insert("is_visually_hidden_from_conversation".into(), true.into());
        } else if let Some(tag) = tag(node) {
            metadata.insert("lepo".into(), tag.into());
        }
        let mut parts = vec![Value::from(node.text.as_str())];
        for (file, bytes) in &node.files {
            parts.push(json!({
                "content_type": "image_asset_pointer", "asset_pointer": data_url(file.media.mime(), bytes),
                "name": file.name, "size_bytes": bytes.len(),
            }));
        }
        let kind = if node.files.is_empty() { "text" } else { "multimodal_text" };
        let parent = node.parent.map_or(ROOT.to_string(), id);
        let children: Vec<String> = node.children.iter().map(|&child| id(child)).collect();
        mapping.insert(
            id(at),
            json!({
                "id": id(at), "parent": parent, "children": children,
                "message": {
                    "id": id(at), "author": { "role": role(node), "name": null, "metadata": {} },
                    "create_time": seconds(node.name.id.time()), "update_time": null,
                    "content": { "content_type": kind, "parts": parts },
                    "status": "finished_successfully", "end_turn": node.name.role == Role::Assistant, "weight": 1.0,
                    "metadata": metadata, "recipient": "all", "channel": null,
                },
            }),
        );
    }
    let (begun, last) = tree.times();
    json!({
        "title": tree.title, "create_time": seconds(begun), "update_time": seconds(last), "mapping": mapping,
        "current_node": id(tree.current), "conversation_id": tree.id().to_lowercase(), "id": tree.id().to_lowercase(),
    })
}

fn openwebui(tree: &ExportTree) -> Value {
    let prompt = tree.nodes.first().filter(|node| is_prompt(node));
    let id = |at: usize| id_of(tree.nodes[at].name.id);
    let shown = |at: usize| !is_prompt(&tree.nodes[at]);
    let mut messages = Map::new();
    for (at, node) in tree.nodes.iter().enumerate().filter(|(at, _)| shown(*at)) {
        let children: Vec<String> = node.children.iter().map(|&child| id(child)).collect();
        let mut message = json!({
            "id": id(at), "parentId": node.parent.filter(|&parent| shown(parent)).map(id), "childrenIds": children,
            "role": role(node), "content": node.text, "timestamp": node.name.id.time() / 1000,
            "lepoTime": node.name.id.time(),
        });
        // Marks a text that Open WebUI would take for reasoning.
        let looks_marked = node.name.role == Role::Assistant && node.text.contains("<details type=\"");
        let tag = tag(node).or_else(|| looks_marked.then(|| node.name.tag()));
        for (key, value) in [("lepo", json!(tag)), ("model", json!(node.fact.model))] {
            if !value.is_null() {
                message[key] = value;
            }
        }
        if node.name.role == Role::Assistant {
            message["done"] = true.into();
        }
        let file = |(file, bytes): &(lepo_store::bubb::Attachment, Vec<u8>)| {
            let kind = if file.media.is_image() { "image" } else { "file" };
            json!({ "type": kind, "name": file.name, "url": data_url(file.media.mime(), bytes) })
        };
        if !node.files.is_empty() {
            message["files"] = node.files.iter().map(file).collect();
        }
        messages.insert(id(at), message);
    }
    let path: Vec<Value> = tree
        .path()
        .into_iter()
        .filter(|&at| shown(at))
        .filter_map(|at| messages.get(&id(at)).cloned())
        .collect();
    let (begun, last) = tree.times();
    let mut models: Vec<&str> = tree.nodes.iter().filter_map(|node| node.fact.model.as_deref()).collect();
    models.dedup();
    let mut chat = json!({
        "title": tree.title, "models": models, "params": {}, "timestamp": begun,
        "history": { "currentId": id(tree.current), "messages": messages }, "messages": path,
    });
    if let Some(prompt) = prompt {
        chat["params"]["system"] = prompt.text.as_str().into();
        chat["systemTime"] = prompt.name.id.time().into();
    }
    json!({
        "id": tree.id().to_lowercase(), "title": tree.title, "chat": chat, "created_at": begun / 1000,
        "updated_at": last / 1000, "archived": false, "pinned": false, "meta": {},
    })
}

/// Formats a session that pi can continue.
fn pi(tree: &ExportTree, cwd: &str) -> String {
    let (begun, _) = tree.times();
    let head = json!({
        "type": "session", "version": 3, "id": tree.id().to_lowercase(), "timestamp": moment(begun), "cwd": cwd,
        "exportedBy": "lepo",
    });
    let name = json!({ "type": "session_info", "id": "title", "parentId": null, "timestamp": moment(begun), "name": tree.title });
    let mut text = format!("{head}\n{name}\n");
    for node in &tree.nodes {
        let time = node.name.id.time();
        let mut entry = json!({
            "type": "message", "id": id_of(node.name.id),
            "parentId": node.parent.map(|parent| id_of(tree.nodes[parent].name.id)), "timestamp": moment(time),
        });
        let mut content = vec![json!({ "type": "text", "text": node.text })];
        for (file, bytes) in &node.files {
            content.push(json!({
                "type": "image", "data": STANDARD.encode(bytes), "mimeType": file.media.mime(), "name": file.name,
            }));
        }
        match (tag(node), node.name.role) {
            (Some(tag), _) => {
                entry["type"] = "custom".into();
                entry["customType"] = "lepo".into();
                entry["data"] = json!({ "tag": tag, "text": node.text });
            }
            (None, Role::User) => {
                entry["message"] = json!({ "role": "user", "content": content, "timestamp": time });
            }
            _ => {
                let (input, output) = (node.fact.input.unwrap_or(0), node.fact.output.unwrap_or(0));
                entry["message"] = json!({
                    "role": "assistant", "content": content, "api": "openai-completions", "provider": "lepo",
                    "model": node.fact.model.as_deref().unwrap_or("unknown"),
                    "usage": {
                        "input": input, "output": output, "cacheRead": 0, "cacheWrite": 0, "totalTokens": input + output,
                        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
                    },
                    "stopReason": "stop", "timestamp": time,
                });
            }
        }
        text += &format!("{entry}\n");
    }
    text
}
