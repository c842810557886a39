//! Writes a session of Claude Code: one message per line, each with its parent, for
//! `projects/FOLDER/UUID.jsonl`.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::install::SessionFile;
use super::session::{NativeSession, moment, session_id, uuid};
use lepo_base::role::Role;
use lepo_store::bubb::BubbId;

/// The version with this format.
const VERSION: &str = "2.1.331";

/// Maximum length of a folder's name in `projects/`; a hash is appended to a longer one.
const FOLDER: usize = 200;

struct ClaudeLog {
    session: String,
    cwd: String,
    last: Option<String>,
    text: String,
}

impl ClaudeLog {
    fn record(&mut self, record: &Value) {
        self.text += &format!("{record}\n");
    }

    /// Appends a message as the child of the previous one.
    fn message(&mut self, id: BubbId, message: &Value, aside: Option<Value>) {
        let own = uuid(id);
        let mut line = json!({
            "parentUuid": self.last, "isSidechain": false, "userType": "external", "cwd": self.cwd,
            "sessionId": self.session, "version": VERSION, "gitBranch": "", "type": message["role"],
            "uuid": own, "timestamp": moment(id.time()), "message": message,
        });
        if let Some(aside) = aside {
            line["lepo"] = aside;
        }
        self.record(&line);
        self.last = Some(own);
    }
}

pub fn write(session: &NativeSession<'_>, cwd: &Path) -> SessionFile {
    let id = session_id(session.id);
    let cwd = cwd.to_string_lossy();
    let mut lines = ClaudeLog { session: id.clone(), cwd: cwd.to_string(), last: None, text: String::new() };
    if let Some(title) = session.title {
        lines.record(&json!({ "type": "custom-title", "customTitle": title, "sessionId": id }));
    }
    for turn in &session.turns {
        let node = turn.node;
        let mut content = Vec::new();
        if !node.text.is_empty() {
            content.push(json!({ "type": "text", "text": node.text }));
        }
        for (file, bytes) in &node.files {
            let kind = if file.media.is_image() { "image" } else { "document" };
            let data = STANDARD.encode(bytes);
            let source = json!({ "type": "base64", "media_type": file.media.mime(), "data": data });
            content.push(json!({ "type": kind, "source": source }));
        }
        let aside = session.extra_fields(turn, |_| true);
        let usage = (node.fact.input.unwrap_or(0), node.fact.output.unwrap_or(0));
        match node.name.role {
            _ if content.is_empty() => {}
            Role::Assistant => {
                let model = node.fact.model.as_deref();
                lines.message(
                    node.name.id,
                    &answer(node.name.id, model, content, "end_turn", usage),
                    Some(aside),
                );
            }
            _ => lines.message(node.name.id, &json!({ "role": "user", "content": content }), Some(aside)),
        }
        for call in &turn.calls {
            let tool = format!("toolu_{}", call.call.name.id).to_lowercase();
            let used = json!({ "type": "tool_use", "id": tool, "name": call.name, "input": call.input });
            let model = call.call.fact.model.as_deref();
            lines.message(
                call.call.name.id,
                &answer(call.call.name.id, model, vec![used], "tool_use", (0, 0)),
                None,
            );
            let result = json!({ "type": "tool_result", "tool_use_id": tool, "content": call.result.text });
            lines.message(call.result.name.id, &json!({ "role": "user", "content": [result] }), None);
        }
    }
    let ClaudeLog { text, .. } = lines;
    SessionFile { name: format!("{id}.jsonl"), folder: format!("projects/{}", folder(&cwd)), id, text }
}

fn answer(id: BubbId, model: Option<&str>, content: Vec<Value>, stop: &str, usage: (u64, u64)) -> Value {
    json!({
        "id": format!("msg_{id}").to_lowercase(), "type": "message", "role": "assistant",
        "model": model.unwrap_or("unknown"), "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": { "input_tokens": usage.0, "output_tokens": usage.1 },
    })
}

/// Returns the folder for the sessions of a directory: all but letters and digits become `-`, and a long name
/// ends with a hash.
fn folder(cwd: &str) -> String {
    let units = || cwd.encode_utf16();
    let letter = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => byte as char,
        _ => '-',
    };
    let name: String = units().map(letter).collect();
    if name.len() <= FOLDER {
        return name;
    }
    let hash = units().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    let (mut rest, mut digits) = (hash.unsigned_abs(), Vec::new());
    loop {
        digits.extend(char::from_digit(rest % 36, 36));
        rest /= 36;
        if rest == 0 {
            break;
        }
    }
    let short: String = name.chars().take(FOLDER).collect();
    format!("{short}-{}", digits.into_iter().rev().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_the_folder_that_claude_code_gives_it() {
        // As version 2.1.331 names them.
        let long = format!("/tmp/mem-try/e-akerdhdt/{}/{}", "l".repeat(100), "m".repeat(100));
        let short = format!("-tmp-mem-try-e-akerdhdt-{}-{}-9pos7u", "l".repeat(100), "m".repeat(75));
        for (cwd, name) in [
            ("/home/me/a_b.c", "-home-me-a-b-c"),
            ("/w/한글 a", "-w----a"),
            ("/w/\u{1f600}x", "-w---x"),
            ("/", "-"),
            (&long, &short),
        ] {
            assert_eq!(folder(cwd), name, "{cwd}");
        }
    }
}
