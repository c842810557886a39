//! opencode's `opencode.db`: sessions, their messages, and the messages' parts; since its version 2 in the tables
//! `session_v2` and `session_message`, where a message contains its parts.
//!
//! A session with a parent is a subagent's, hidden under the call that started it. The table `event`, which is most of
//! the file, repeats all this and is not read. If a session is in the tables of both versions, the newer one is read.

use std::collections::HashSet;

use lepo_base::role::Role;
use lepo_import::{
    CallNodes, History, JsonValue, MessageBuilder, OpencodeLine, OpencodeMessage, gather, opencode_part,
    read_json,
};
use rusqlite::Connection;

use super::each::FormatSink;
use super::rows::{count, has_table, non_empty, or_null, text};

/// A session's id, its parent's, and its content.
type SessionRow = (String, Option<String>, History);

pub fn read(database: &Connection, each: &mut FormatSink<'_>) -> rusqlite::Result<()> {
    let mut calls = CallNodes::new();
    let mut sessions: Vec<SessionRow> = Vec::new();
    if has_table(database, "session_v2") && has_table(database, "session_message") {
        for mut session in read_sessions(database, "session_v2")? {
            read_typed_messages(database, &mut session.2, &mut calls)?;
            sessions.push(session);
        }
    }
    let newer: HashSet<String> = sessions_with_messages(&sessions);
    sessions.retain(|(id, ..)| newer.contains(id));
    if has_table(database, "session") && has_table(database, "part") {
        for mut session in
            read_sessions(database, "session")?.into_iter().filter(|(id, ..)| !newer.contains(id))
        {
            messages(database, &mut session.2, &mut calls)?;
            sessions.push(session);
        }
    }
    for conversation in gather(sessions, &calls) {
        if !each("opencode", &conversation) {
            break;
        }
    }
    Ok(())
}

fn sessions_with_messages(sessions: &[SessionRow]) -> HashSet<String> {
    sessions.iter().filter(|(.., session)| session.messages > 0).map(|(id, ..)| id.clone()).collect()
}

/// Reads the sessions of a table, without their messages.
fn read_sessions(database: &Connection, table: &str) -> rusqlite::Result<Vec<SessionRow>> {
    let (title, created) = (or_null(database, table, "title"), or_null(database, table, "time_created"));
    let directory = or_null(database, table, "directory");
    let mut query = database.prepare(&format!(
        "select id, parent_id, {title}, {created}, {directory} from {table} order by id"
    ))?;
    let mut rows = query.query([])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        let conversation = History {
            id: text(row, "id").unwrap_or_default(),
            title: non_empty(row, "title"),
            start: count(row, "time_created"),
            dir: non_empty(row, "directory"),
            grows: true,
            ..History::default()
        };
        sessions.push((conversation.id.clone(), non_empty(row, "parent_id"), conversation));
    }
    Ok(sessions)
}

/// Reads the messages of a session of version 2, as a chain.
fn read_typed_messages(
    database: &Connection,
    conversation: &mut History,
    calls: &mut CallNodes,
) -> rusqlite::Result<()> {
    let mut query = database.prepare(
        "select type, time_created, data from session_message where session_id = ?1 order by seq, id",
    )?;
    let mut rows = query.query([&conversation.id.clone()])?;
    let (mut at, mut last, mut ended) = (None, 0, false);
    while let Some(row) = rows.next()? {
        let role = match text(row, "type").unwrap_or_default().as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "synthetic" | "system" | "compaction" => Role::System,
            // Changes of the model, the agent or the directory.
            _ => continue,
        };
        let data = text(row, "data").unwrap_or_default();
        // A fork has the original's time in its data, and its own in the row.
        let own = read_json(&data, |data| data.at(&["time", "created"]).count()).flatten();
        let time = own.or(count(row, "time_created"));
        last = conversation.nodes.len();
        ended = false;
        let mut parts = MessageBuilder::new(conversation, at, time, role);
        let about = read_json(&data, |data| {
            let mut about = OpencodeMessage { role, time, ..OpencodeMessage::parse(data) };
            let words =
                data.get("text").non_empty().or_else(|| data.get("summary").non_empty()).unwrap_or_default();
            match role {
                Role::System => parts.aside(Role::System, &words),
                _ => parts.text(&words),
            }
            for item in data.get("content").items() {
                opencode_part(&mut parts, &mut about, item, calls);
            }
            let model = data.get("model");
            let model = model
                .get("id")
                .non_empty()
                .or_else(|| model.get("modelID").non_empty())
                .or(model.non_empty());
            (model, about)
        });
        let (first, tail) = parts.finish();
        at = Some(tail);
        if role != Role::System {
            conversation.messages += 1;
        }
        if let Some((model, about)) = about {
            ended = about.has_ended;
            conversation.answered_by(first, model.as_deref(), about.input, about.output);
        }
    }
    for node in conversation.nodes.iter_mut().skip(last).filter(|_| !ended) {
        node.last = true;
    }
    Ok(())
}

/// Reads the messages of a session of version 1, as a chain.
fn messages(
    database: &Connection,
    conversation: &mut History,
    calls: &mut CallNodes,
) -> rusqlite::Result<()> {
    let mut messages =
        database.prepare("select id, time_created, data from message where session_id = ?1 order by id")?;
    let mut parts =
        database.prepare("select data from part where session_id = ?1 and message_id = ?2 order by id")?;
    let id = conversation.id.clone();
    let mut rows = messages.query([&id])?;
    let mut line = OpencodeLine::default();
    while let Some(row) = rows.next()? {
        let message = text(row, "id").unwrap_or_default();
        let data = text(row, "data").unwrap_or_default();
        let parse =
            |data: JsonValue<'_>| (data.at(&["time", "created"]).count(), OpencodeMessage::parse(data));
        let Some((time, about)) = read_json(&data, parse) else { continue };
        let time = time.or(count(row, "time_created"));
        let mut found = Vec::new();
        let mut rows = parts.query([&id, &message])?;
        while let Some(row) = rows.next()? {
            found.extend(text(row, "data"));
        }
        line.add(conversation, time, about, |building, about| {
            for data in &found {
                read_json(data, |data| opencode_part(building, about, data, calls));
            }
        });
    }
    line.finish(conversation);
    Ok(())
}
