//! llm's `logs.db`, both generations of its tables: `responses`, and since 0.32 `threads`, `turns` and `messages`.
//!
//! A message of the newer tables has no time, and chats with a common start share rows: its time comes from the first
//! turn with the message, in its thread or in a thread that this one was forked from.

use std::collections::HashMap;
use std::path::Path;

use lepo_base::role::Role;
use lepo_import::{
    History, ImportedFile, JsonValue, MessageBuilder, NodeContent, file_of_hash, read_json, written_time,
};
use rusqlite::{Connection, Row};

use super::each::FormatSink;
use super::rows::{bytes, count, has_table, non_empty, or_null, text};

/// Maximum length of a chain of forks.
const DEEP: usize = 32;

pub fn read(database: &Connection, each: &mut FormatSink<'_>) -> rusqlite::Result<()> {
    if has_table(database, "turns") && has_table(database, "messages") && !threads(database, each)? {
        return Ok(());
    }
    if has_table(database, "responses") {
        responses(database, each)?;
    }
    Ok(())
}

/// Parses a time in llm's format, which may lack a time zone.
fn moment(row: &Row<'_>) -> Option<u64> {
    let text = text(row, "datetime_utc")?;
    let text = text.replacen(' ', "T", 1);
    let zoned = text.ends_with('Z') || text.get(10..).is_some_and(|rest| rest.contains(['+', '-']));
    written_time(&if zoned { text } else { format!("{text}Z") })
}

// The older tables: a row is a question and its answer.

fn responses(database: &Connection, each: &mut FormatSink<'_>) -> rusqlite::Result<()> {
    let mut names: HashMap<String, String> = HashMap::new();
    if has_table(database, "conversations") {
        let mut query = database.prepare("select id, name from conversations")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            names.extend(text(row, "id").zip(non_empty(row, "name")));
        }
    }
    let columns: Vec<_> =
        ["system", "reasoning", "input_tokens", "output_tokens", "conversation_id", "duration_ms"]
            .iter()
            .map(|name| or_null(database, "responses", name).into_owned())
            .collect();
    // A turn has the id of its response, and more facts.
    let but = if has_table(database, "turns") { "where id not in (select id from turns)" } else { "" };
    let mut query = database.prepare(&format!(
        "select id, model, prompt, response, datetime_utc, {} from responses {but} order by datetime_utc, id",
        columns.join(", ")
    ))?;
    let mut rows = query.query([])?;
    let (mut order, mut conversations): (Vec<String>, HashMap<String, History>) = Default::default();
    while let Some(row) = rows.next()? {
        let id = text(row, "id").unwrap_or_default();
        let conversation_id = text(row, "conversation_id").unwrap_or_else(|| id.clone());
        let conversation = conversations.entry(conversation_id.clone()).or_insert_with(|| {
            order.push(conversation_id.clone());
            History {
                id: conversation_id.clone(),
                title: names.get(&conversation_id).cloned(),
                ..History::default()
            }
        });
        response(database, conversation, row, &id)?;
    }
    for id in order {
        if let Some(conversation) = conversations.remove(&id)
            && !each("llm", &conversation)
        {
            return Ok(());
        }
    }
    Ok(())
}

fn response(
    database: &Connection,
    conversation: &mut History,
    row: &Row<'_>,
    id: &str,
) -> rusqlite::Result<()> {
    let asked = moment(row);
    let answered = asked.map(|time| time + count(row, "duration_ms").unwrap_or(0));
    let parent = conversation.nodes.len().checked_sub(1);
    let mut parts = MessageBuilder::new(conversation, parent, asked, Role::User);
    if let (None, Some(system)) = (parent, non_empty(row, "system")) {
        parts.push_node(NodeContent::System(system));
    }
    if has_table(database, "tool_results") {
        let mut query = database
            .prepare("select output, tool_call_id from tool_results where response_id = ?1 order by id")?;
        let mut results = query.query([id])?;
        while let Some(result) = results.next()? {
            let (call, text) = (
                text(result, "tool_call_id").unwrap_or_default(),
                text(result, "output").unwrap_or_default(),
            );
            parts.push_node(NodeContent::Output { call, text, files: Vec::new() });
        }
    }
    for fragment in fragments(database, "prompt_fragments", "response_id", id)? {
        parts.text(&fragment);
    }
    parts.text(&text(row, "prompt").unwrap_or_default());
    if has_table(database, "prompt_attachments") {
        let mut query = database.prepare(
            "select a.* from prompt_attachments p join attachments a on a.id = p.attachment_id \
             where p.response_id = ?1 order by p.\"order\"",
        )?;
        let mut attached = query.query([id])?;
        while let Some(row) = attached.next()? {
            parts.file(file(row));
        }
    }
    let (_, tail) = parts.finish();
    let mut parts = MessageBuilder::new(conversation, Some(tail), answered, Role::Assistant);
    parts.aside(Role::Assistant, &non_empty(row, "reasoning").unwrap_or_default());
    parts.text(&text(row, "response").unwrap_or_default());
    if has_table(database, "tool_calls") {
        let mut query = database.prepare(
            "select name, arguments, tool_call_id from tool_calls where response_id = ?1 order by id",
        )?;
        let mut calls = query.query([id])?;
        while let Some(call) = calls.next()? {
            let column = |name: &str| text(call, name).unwrap_or_default();
            parts.push_node(NodeContent::Call {
                id: column("tool_call_id"),
                name: column("name"),
                input: column("arguments"),
            });
        }
    }
    let (first, _) = parts.finish();
    conversation.messages += 2;
    let model = text(row, "model");
    conversation.answered_by(
        first,
        model.as_deref(),
        count(row, "input_tokens"),
        count(row, "output_tokens"),
    );
    Ok(())
}

/// Returns the fragments of a row's prompt, in order.
fn fragments(database: &Connection, table: &str, column: &str, id: &str) -> rusqlite::Result<Vec<String>> {
    if !has_table(database, table) {
        return Ok(Vec::new());
    }
    let mut query = database.prepare(&format!(
        "select f.content as content from {table} t join fragments f on f.id = t.fragment_id where t.{column} = ?1 order by t.\"order\""
    ))?;
    let mut rows = query.query([id])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.extend(text(row, "content"));
    }
    Ok(found)
}

/// Reads an attachment: its bytes, or the bytes of the file at its path if their hash is still its id.
fn file(row: &Row<'_>) -> ImportedFile {
    let path = non_empty(row, "path");
    let kept = bytes(row, "content").filter(|bytes| !bytes.is_empty());
    let data = kept.or_else(|| file_of_hash(Path::new(path.as_deref()?), &non_empty(row, "id")?));
    let location = path.or_else(|| non_empty(row, "url")).unwrap_or_default();
    ImportedFile {
        name: location.rsplit('/').next().unwrap_or_default().to_string(),
        mime: non_empty(row, "type").unwrap_or_else(|| "application/octet-stream".into()),
        data,
    }
}

// The newer tables: threads refer to a shared tree of messages.

/// A turn's facts about the messages that it added.
#[derive(Clone, Default)]
struct ResponseInfo {
    time: Option<u64>,
    model: Option<String>,
    input: Option<u64>,
    output: Option<u64>,
}

struct LlmThread {
    id: String,
    name: Option<String>,
    tip: Option<String>,
    forked_from: Option<String>,
    /// By the message's hash.
    responses: HashMap<String, ResponseInfo>,
}

type LlmMessages = HashMap<String, (Option<String>, String)>;

/// Reads all threads; false once the reader has gone.
fn threads(database: &Connection, each: &mut FormatSink<'_>) -> rusqlite::Result<bool> {
    let mut messages = LlmMessages::new();
    let mut query = database.prepare("select hash, parent_hash, role from messages")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let role = text(row, "role").unwrap_or_default();
        messages.insert(text(row, "hash").unwrap_or_default(), (text(row, "parent_hash"), role));
    }
    let mut threads: Vec<LlmThread> = Vec::new();
    let mut query =
        database.prepare("select id, name, tip_message_hash, forked_from from threads order by id")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        threads.push(LlmThread {
            id: text(row, "id").unwrap_or_default(),
            name: non_empty(row, "name"),
            tip: text(row, "tip_message_hash"),
            forked_from: text(row, "forked_from"),
            responses: HashMap::new(),
        });
    }
    let mut tips: HashMap<String, Vec<String>> = HashMap::new();
    for thread in &mut threads {
        tips.insert(thread.id.clone(), turns(database, thread, &messages)?);
    }
    let indices: HashMap<String, usize> =
        threads.iter().enumerate().map(|(index, thread)| (thread.id.clone(), index)).collect();
    for thread in &threads {
        let mut ends = tips.remove(&thread.id).unwrap_or_default();
        ends.extend(thread.tip.clone());
        let response_info = |hash: &str| {
            let mut at = Some(thread);
            for _ in 0..DEEP {
                let Some(thread) = at else { break };
                if let Some(response_info) = thread.responses.get(hash) {
                    return response_info.clone();
                }
                at = thread.forked_from.as_ref().and_then(|id| indices.get(id)).map(|&index| &threads[index]);
            }
            ResponseInfo::default()
        };
        let mut conversation =
            History { id: thread.id.clone(), title: thread.name.clone(), ..History::default() };
        let mut tails: HashMap<String, usize> = HashMap::new();
        for end in ends {
            let new: Vec<String> = chain(&messages, &end, |hash| tails.contains_key(hash));
            for hash in new.into_iter().rev() {
                let parent = messages.get(&hash).and_then(|(parent, _)| parent.as_ref());
                let parent = parent.and_then(|parent| tails.get(parent)).copied();
                let tail =
                    message(database, &mut conversation, &messages, &hash, parent, &response_info(&hash))?;
                tails.insert(hash, tail);
            }
        }
        if !conversation.nodes.is_empty() && !each("llm", &conversation) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the messages from a tip back to the first that `known` accepts, exclusive; the tip comes first.
fn chain(messages: &LlmMessages, tip: &str, known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut at = Some(tip.to_string());
    while let Some(hash) = at.filter(|hash| !known(hash) && found.len() <= messages.len()) {
        let Some((parent, _)) = messages.get(&hash) else { break };
        at = parent.clone();
        found.push(hash);
    }
    found
}

/// Reads a thread's turns: adds their facts about its messages, and returns their tips.
fn turns(
    database: &Connection,
    thread: &mut LlmThread,
    messages: &LlmMessages,
) -> rusqlite::Result<Vec<String>> {
    let mut query = database.prepare(
        "select tip_message_hash, parent_message_hash, model, input_tokens, output_tokens, duration_ms, datetime_utc \
         from turns where thread_id = ?1 order by datetime_utc, id",
    )?;
    let mut rows = query.query([&thread.id])?;
    let mut tips = Vec::new();
    while let Some(row) = rows.next()? {
        let asked = moment(row);
        let answered = asked.map(|time| time + count(row, "duration_ms").unwrap_or(0));
        let answer = ResponseInfo {
            time: answered,
            model: text(row, "model"),
            input: count(row, "input_tokens"),
            output: count(row, "output_tokens"),
        };
        let Some(tip) = text(row, "tip_message_hash") else { continue };
        let parent = text(row, "parent_message_hash");
        let mut own = true;
        for hash in chain(messages, &tip, |hash| thread.responses.contains_key(hash)) {
            own &= Some(&hash) != parent.as_ref();
            let found =
                if own { answer.clone() } else { ResponseInfo { time: asked, ..ResponseInfo::default() } };
            thread.responses.insert(hash, found);
        }
        tips.push(tip);
    }
    Ok(tips)
}

/// Adds a message and returns the index of its last node.
fn message(
    database: &Connection,
    conversation: &mut History,
    messages: &LlmMessages,
    hash: &str,
    parent: Option<usize>,
    response: &ResponseInfo,
) -> rusqlite::Result<usize> {
    let role_name = messages.get(hash).map_or("", |(_, role_name)| role_name);
    let role = if role_name == "user" { Role::User } else { Role::Assistant };
    let mut query = database.prepare(
        "select id, type, tool_name, text, payload from parts where message_hash = ?1 order by position",
    )?;
    let mut rows = query.query([hash])?;
    let mut parts = MessageBuilder::new(conversation, parent, response.time, role);
    while let Some(row) = rows.next()? {
        let payload = text(row, "payload").unwrap_or_else(|| "{}".into());
        let whole = match text(row, "text") {
            Some(text) => text,
            None => pieces(database, &payload)?,
        };
        let id = text(row, "id").unwrap_or_default();
        let field = |key: &str| read_json(&payload, |payload| payload.get(key).string()).unwrap_or_default();
        match text(row, "type").unwrap_or_default().as_str() {
            "text" if role_name == "system" => parts.push_node(NodeContent::System(whole)),
            "text" => parts.text(&whole),
            "reasoning" => parts.aside(Role::Assistant, &whole),
            "tool_call" => {
                let raw =
                    |value: JsonValue<'_>| String::from_utf8_lossy(value.get("arguments").raw()).into_owned();
                let input = read_json(&payload, raw).unwrap_or_default();
                parts.push_node(NodeContent::Call { id: field("tool_call_id"), name: field("name"), input });
            }
            "tool_result" => {
                let files = attached(database, &id)?;
                parts.push_node(NodeContent::Output {
                    call: field("tool_call_id"),
                    text: field("output"),
                    files,
                });
            }
            "attachment" => attached(database, &id)?.into_iter().for_each(|file| parts.file(file)),
            _ => {}
        }
    }
    let (first, tail) = parts.finish();
    conversation.messages += 1;
    conversation.answered_by(first, response.model.as_deref(), response.input, response.output);
    Ok(tail)
}

/// Joins the literals and fragments of a text.
fn pieces(database: &Connection, payload: &str) -> rusqlite::Result<String> {
    let read = |payload: JsonValue<'_>| {
        let piece = |piece: JsonValue<'_>| (piece.get("literal").string(), piece.get("fragment").count());
        (payload.get("text").string(), payload.get("text_ref").items().map(piece).collect::<Vec<_>>())
    };
    let Some((mut whole, pieces)) = read_json(payload, read) else { return Ok(String::new()) };
    let mut query = database.prepare("select content from fragments where id = ?1")?;
    for (literal, fragment) in pieces {
        whole += &literal;
        if let Some(fragment) = fragment {
            let mut rows = query.query([fragment as i64])?;
            if let Some(row) = rows.next()? {
                whole += &text(row, "content").unwrap_or_default();
            }
        }
    }
    Ok(whole)
}

fn attached(database: &Connection, part: &str) -> rusqlite::Result<Vec<ImportedFile>> {
    let mut query = database.prepare(
        "select a.* from part_attachments p join attachments a on a.id = p.attachment_id where p.part_id = ?1 order by p.\"order\"",
    )?;
    let mut rows = query.query([part])?;
    let mut files = Vec::new();
    while let Some(row) = rows.next()? {
        files.push(file(row));
    }
    Ok(files)
}
