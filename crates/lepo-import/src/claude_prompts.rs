//! Claude Code's `history.jsonl`: the prompts that the user typed, in all sessions. The program removes the sessions'
//! logs after some weeks, but not this file, which so preserves half of each conversation.
//!
//! Prompts of a session whose log exists are skipped. The other prompts become conversations: one for each session, and
//! one for each project's prompts without a session.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::ConversationSink;
use super::conversation::{History, NodeContent};
use super::json::JsonValue;
use super::source::{SourceReader, files_in, folders_in};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Whether a value is a line of this file.
pub fn is_prompt(value: JsonValue<'_>) -> bool {
    value.has("display") && value.get("timestamp").count().is_some() && value.has("project")
}

pub fn read(path: &Path, reading: &mut SourceReader, each: &mut ConversationSink<'_>) -> Result<()> {
    let logged = logged(path);
    let (mut found, mut indices): (Vec<History>, HashMap<String, usize>) = Default::default();
    let mut values = reading.lines(path)?;
    while let Some(value) = reading.next(&mut values)? {
        let (session, project) = (value.get("sessionId").non_empty(), value.get("project").string());
        if session.as_ref().is_some_and(|session| logged.contains(session)) {
            reading.tally.skip("prompt of a session whose log still exists", 1);
            continue;
        }
        let text = text(value);
        // A slash command of the program.
        if text.trim().is_empty() || (text.starts_with('/') && !text.contains(char::is_whitespace)) {
            reading.tally.skip("prompt that is a command", 1);
            continue;
        }
        let id = session.unwrap_or_else(|| format!("prompts of {project}"));
        let index = *indices.entry(id.clone()).or_insert_with(|| {
            let (dir, grows, copy) = (Some(project), true, true);
            found.push(History { id, dir, grows, copy, ..History::default() });
            found.len() - 1
        });
        let conversation = &mut found[index];
        let parent = conversation.nodes.len().checked_sub(1);
        let what = NodeContent::Text(Role::User, text, Vec::new());
        conversation.add(parent, value.get("timestamp").count(), what);
        conversation.messages += 1;
    }
    found.into_iter().try_for_each(each)
}

/// Returns the ids of the sessions whose logs exist.
fn logged(path: &Path) -> HashSet<String> {
    let projects = path.parent().unwrap_or(Path::new("")).join("projects");
    let logs = folders_in(&projects).into_iter().flat_map(|folder| files_in(&folder));
    let logs = logs.filter(|log| log.extension().is_some_and(|end| end == "jsonl"));
    logs.filter_map(|log| Some(log.file_stem()?.to_string_lossy().into_owned())).collect()
}

/// Returns the text of a prompt, with each mark of pasted text replaced by that text.
fn text(value: JsonValue<'_>) -> String {
    let mut text = value.get("display").string();
    for (number, pasted) in value.get("pastedContents").fields() {
        let Some(content) = pasted.get("content").non_empty() else { continue };
        let begin = format!("[Pasted text #{}", number.string());
        let Some((before, rest)) = text.split_once(&begin) else { continue };
        let Some((sign, after)) = rest.split_once(']') else { continue };
        if sign.is_empty() || sign.starts_with(' ') {
            text = format!("{before}{content}{after}");
        }
    }
    text
}
