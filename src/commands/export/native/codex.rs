//! Writes a thread of Codex: one record per line, for `sessions/YEAR/MONTH/DAY/rollout-TIME-UUID.jsonl`.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::render::local;
use super::super::tree::ExportedFile;
use super::install::SessionFile;
use super::session::{NativeSession, NativeTurn, moment, session_id, uuid};
use lepo_base::role::Role;
use lepo_store::bubb::BubbId;

fn record(text: &mut String, id: BubbId, kind: &str, payload: Value, aside: Option<Value>) {
    let mut line = json!({ "timestamp": moment(id.time()), "type": kind, "payload": payload });
    if let Some(aside) = aside {
        line["lepo"] = aside;
    }
    *text += &format!("{line}\n");
}

/// Whether the message's items can contain the file: only images.
fn is_inside(attached: &ExportedFile) -> bool {
    attached.0.media.is_image()
}

pub fn write(session: &NativeSession<'_>, cwd: &Path) -> SessionFile {
    let id = session_id(session.id);
    let begun = session.turns.first().map_or(session.id, |turn| turn.node.name.id);
    let mut text = String::new();
    // Names no provider: Codex would refuse to resume with another one.
    let meta = json!({
        "id": id, "timestamp": moment(begun.time()), "cwd": cwd.to_string_lossy(), "originator": "lepo",
        "cli_version": env!("CARGO_PKG_VERSION"), "source": "cli",
    });
    record(&mut text, begun, "session_meta", meta, None);
    for turn in &session.turns {
        let node = turn.node;
        let content = content(turn);
        if !content.is_empty() {
            let role = if node.name.role == Role::Assistant { "assistant" } else { "user" };
            let message = json!({ "type": "message", "role": role, "content": content });
            record(
                &mut text,
                node.name.id,
                "response_item",
                message,
                Some(session.extra_fields(turn, is_inside)),
            );
            // The text that Codex shows in its lists and on its screen.
            let event = if role == "user" { "user_message" } else { "agent_message" };
            let shown = json!({ "type": event, "message": node.text });
            record(&mut text, node.name.id, "event_msg", shown, None);
        }
        for call in &turn.calls {
            let (called, returned) = (call.call.name.id, call.result.name.id);
            let name = format!("call_{called}").to_lowercase();
            let item = json!({
                "type": "function_call", "name": call.name, "arguments": call.input.to_string(), "call_id": name,
            });
            record(&mut text, called, "response_item", item, None);
            let item = json!({ "type": "function_call_output", "call_id": name, "output": call.result.text });
            record(&mut text, returned, "response_item", item, None);
        }
    }
    let last = session.turns.last().map(|turn| turn.node.text.as_str());
    let done = json!({ "type": "task_complete", "turn_id": uuid(session.id), "last_agent_message": last });
    record(&mut text, session.id, "event_msg", done, None);
    // In local time, as Codex does.
    let time = local(begun);
    let name = format!("rollout-{}-{id}.jsonl", time.strftime("%Y-%m-%dT%H-%M-%S"));
    SessionFile { id, name, folder: time.strftime("sessions/%Y/%m/%d").to_string(), text }
}

fn content(turn: &NativeTurn<'_>) -> Vec<Value> {
    let kind = if turn.node.name.role == Role::Assistant { "output_text" } else { "input_text" };
    let text = |text: &str| json!({ "type": kind, "text": text });
    let mut content = Vec::new();
    if !turn.node.text.is_empty() {
        content.push(text(&turn.node.text));
    }
    let mut images = 0;
    for attached in &turn.node.files {
        let (file, bytes) = attached;
        if !is_inside(attached) {
            content.push(text(&format!(
                "[{} {} bytes {}: not in this session]",
                file.media.mime(),
                bytes.len(),
                file.name
            )));
            continue;
        }
        images += 1;
        let url = format!("data:{};base64,{}", file.media.mime(), STANDARD.encode(bytes));
        content.push(text(&format!("<image name=[Image #{images}] path=\"{}\">", file.name)));
        content.push(json!({ "type": "input_image", "image_url": url }));
        content.push(text("</image>"));
    }
    content
}
