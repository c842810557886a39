//! opencode's `opencode.db`: sessions, their messages, and the parts of these.
//!
//! A session with a parent is a subagent's, hidden under the call that began it. The table `event`, which is most of
//! the file, repeats all this and is not read.

use std::collections::HashMap;

use lepo::import_db::Kind;
use lepo::import_db::{Conversation, File, Parts, Value, What, file_of_url};
use rusqlite::Connection;

use super::Each;
use super::rows::{count, json, or_null, said, text};

/// Reads all sessions.
pub fn read(database: &Connection, each: &mut Each<'_>) -> rusqlite::Result<()> {
    let mut sessions: Vec<(String, Option<String>, Conversation)> = Vec::new();
    // The call that began each subagent's session.
    let mut calls: HashMap<String, usize> = HashMap::new();
    let title = or_null(database, "session", "title");
    let created = or_null(database, "session", "time_created");
    let mut query =
        database.prepare(&format!("select id, parent_id, {title}, {created} from session order by id"))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let id = text(row, "id").unwrap_or_default();
        let mut conversation = Conversation {
            id: id.clone(),
            title: said(row, "title"),
            start: count(row, "time_created"),
            grows: true,
            ..Conversation::default()
        };
        session(database, &mut conversation, &mut calls)?;
        sessions.push((id, said(row, "parent_id"), conversation));
    }
    // Those of subagents go to what began them, the deepest first.
    let mut agents: HashMap<String, Vec<Conversation>> = HashMap::new();
    sessions.sort_by(|a, b| b.0.cmp(&a.0));
    let known: Vec<String> = sessions.iter().map(|(id, ..)| id.clone()).collect();
    for (id, parent, mut conversation) in sessions {
        for agent in agents.remove(&id).unwrap_or_default() {
            let call = calls.get(&agent.id).copied();
            hang(&mut conversation, agent, call);
        }
        match parent.filter(|parent| known.contains(parent) && *parent < id) {
            Some(parent) => agents.entry(parent).or_default().push(conversation),
            None if !each("opencode", &conversation) => return Ok(()),
            None => {}
        }
    }
    Ok(())
}

/// The messages of a session, a line.
fn session(
    database: &Connection,
    conversation: &mut Conversation,
    calls: &mut HashMap<String, usize>,
) -> rusqlite::Result<()> {
    let mut messages =
        database.prepare("select id, time_created, data from message where session_id = ?1 order by id")?;
    let mut parts = database.prepare(
        "select id, time_created, data from part where session_id = ?1 and message_id = ?2 order by id",
    )?;
    let id = conversation.id.clone();
    let mut rows = messages.query([&id])?;
    let (mut at, mut last) = (None, 0);
    while let Some(row) = rows.next()? {
        let message = text(row, "id").unwrap_or_default();
        let data = text(row, "data").unwrap_or_default();
        let time = count(row, "time_created");
        let about = json(&data, |data| {
            let tokens = data.get("tokens");
            (
                data.get("role").words(),
                data.get("modelID").said(),
                tokens.get("input").count(),
                tokens.get("output").count(),
            )
        });
        let Some((role, model, input, output)) = about else { continue };
        let kind = if role == "user" { Kind::User } else { Kind::Assistant };
        last = conversation.nodes.len();
        conversation.messages += 1;
        let mut building = Parts::new(conversation, at, time, kind);
        let mut rows = parts.query([&id, &message])?;
        while let Some(row) = rows.next()? {
            building.at(count(row, "time_created").or(time));
            json(&text(row, "data").unwrap_or_default(), |data| part(&mut building, kind, data, calls));
        }
        let (first, tail) = building.finish();
        at = Some(tail);
        conversation.answered_by(first, model.as_deref(), input, output);
    }
    for node in conversation.nodes.iter_mut().skip(last) {
        node.last = true;
    }
    Ok(())
}

fn part(parts: &mut Parts<'_>, kind: Kind, part: Value<'_>, calls: &mut HashMap<String, usize>) {
    let words = part.get("text").words();
    match &*part.get("type").text().unwrap_or_default() {
        "text" if part.get("synthetic").is_true() || part.get("ignored").is_true() => {
            parts.aside(kind, &words)
        }
        "text" => parts.text(&words),
        "reasoning" => parts.aside(Kind::Assistant, &words),
        "compaction" => parts.aside(Kind::System, &words),
        "file" => {
            let (name, mime) = (part.get("filename").words(), part.get("mime").words());
            parts.file(file_of_url(&name, &mime, &part.get("url").words()));
        }
        "tool" => {
            let state = part.get("state");
            let id = part.get("callID").words();
            let input = String::from_utf8_lossy(state.get("input").raw()).into_owned();
            parts.then(What::Call { id: id.clone(), name: part.get("tool").words(), input });
            let output = state.get("output").said().or_else(|| state.get("error").said()).unwrap_or_default();
            let file = |file: Value<'_>| {
                file_of_url(
                    &file.get("filename").words(),
                    &file.get("mime").words(),
                    &file.get("url").words(),
                )
            };
            let files: Vec<File> = state.get("attachments").items().map(file).collect();
            let agent = state.at(&["metadata", "sessionId"]).said();
            calls.extend(agent.zip(parts.last()));
            parts.then(What::Output { call: id, text: output, files });
        }
        _ => {}
    }
}

/// Hangs a subagent's session under the call that began it, else under the last one.
fn hang(conversation: &mut Conversation, agent: Conversation, named: Option<usize>) {
    let calls = conversation.nodes.iter().enumerate();
    let last =
        calls.filter(|(_, node)| matches!(node.what, What::Call { .. })).map(|(place, _)| place).last();
    let Some(under) = named.or(last).or_else(|| conversation.nodes.len().checked_sub(1)) else { return };
    let shift = conversation.nodes.len();
    for mut node in agent.nodes {
        node.parent = Some(node.parent.map_or(under, |parent| parent + shift));
        node.what = match node.what {
            What::Text(kind, text, _) => What::Side(kind, text),
            what => what,
        };
        conversation.nodes.push(node);
    }
    conversation.messages += agent.messages;
}
