//! A conversation in the form of the Messages API: system blocks at the top, then turns of the user and the assistant,
//! each a list of blocks. At most three blocks are marked for the cache; the server takes four.

use serde_json::{Value, json};

use crate::body_context::BodyContext;
use crate::config::CacheLife;
use crate::media::MediaFile;
use crate::message::{ChatMessage, ChatRequest, ToolCall};
use crate::payload::{JsonObjectWriter, Payload, list};
use crate::quirks::{MALFORMED, Quirk};
use crate::text::SharedText;
use lepo_base::role::Role;

/// The instruction is sent as a system message at the end, which only newer models accept.
pub(super) static SYSTEM_ROLE: Quirk = Quirk {
    word: "system_role",
    status: MALFORMED,
    named: &[&["system"], &["role"]],
    says: "does not accept a system message at the end: retrying with it in the question",
};

/// Consecutive messages of one role.
struct RoleTurn<'m> {
    assistant: bool,
    blocks: Vec<RequestBlock<'m>>,
}

enum RequestBlock<'m> {
    /// A text, after a line that names its kind.
    Text(&'static str, &'m SharedText),
    Call(&'m ToolCall),
    Result(&'m str, &'m SharedText, &'m [MediaFile]),
    File(&'m MediaFile),
    /// As received.
    Received(&'m Value),
}

/// Whether the assistant made calls since the last question and the message that contained them is missing.
pub fn is_rebuilt(request: &ChatRequest<'_>) -> bool {
    let question = |m: &ChatMessage| m.role == Role::User && m.call_id.is_none();
    let turn = request.messages.iter().rev().take_while(|m| !question(m));
    turn.into_iter().any(|message| !message.calls.is_empty() && message.replay.is_none())
}

/// Writes `system` and `messages`.
pub fn write(object: &mut JsonObjectWriter<'_>, asking: &mut BodyContext<'_>) {
    let all = asking.request.messages;
    // After the instruction come messages from before a pause.
    let (path, inst, conversation) = match all.iter().rposition(|message| message.instruction) {
        Some(at) => (all.get(..at).unwrap_or_default(), all.get(at), all.get(at + 1..).unwrap_or_default()),
        None => (all, None, &[][..]),
    };
    let inst = inst.map(|message| &message.text);
    let life = asking.config.cache;
    let leading = path.iter().take_while(|message| message.role == Role::System).count();
    let (system, path) = path.split_at(leading);
    let system: Vec<&SharedText> =
        system.iter().map(|m| &m.text).filter(|text| !text.trim().is_empty()).collect();
    if !system.is_empty() {
        let last = system.len() - 1;
        list(object.key("system"), system.into_iter().enumerate(), |payload, (i, text)| {
            write_block(payload, &RequestBlock::Text("", text), (i == last).then_some(life));
        });
    }
    let mut turns = turns(path);
    let marked = marks(&turns);
    let mut trailing = None;
    if let Some(inst) = inst {
        match turns.last_mut().filter(|turn| !turn.assistant) {
            Some(_) if asking.takes(&SYSTEM_ROLE) => trailing = Some(inst),
            Some(turn) => turn.blocks.push(RequestBlock::Text("[system]\n", inst)),
            // After an assistant's turn, and without any turn, the instruction becomes a user's turn.
            None => turns
                .push(RoleTurn { assistant: false, blocks: vec![RequestBlock::Text("[system]\n", inst)] }),
        }
    }
    let payload = object.key("messages");
    payload.raw("[");
    for (i, turn) in turns.iter().enumerate() {
        let marked = marked.iter().find(|at| at.0 == i).map(|at| (at.1, life));
        write_turn(payload, turn, i == 0, marked);
    }
    if let Some(inst) = trailing {
        payload.raw(",{\"role\":\"system\",\"content\":");
        payload.text(inst);
        payload.raw("}");
    }
    for turn in self::turns(conversation) {
        write_turn(payload, &turn, false, None);
    }
    payload.raw("]");
}

fn write_turn(payload: &mut Payload, turn: &RoleTurn<'_>, first: bool, marked: Option<(usize, CacheLife)>) {
    payload.raw(if first { "{\"role\":" } else { ",{\"role\":" });
    payload.json(if turn.assistant { "assistant" } else { "user" });
    payload.raw(",\"content\":");
    list(payload, turn.blocks.iter().enumerate(), |payload, (i, block)| {
        write_block(payload, block, marked.filter(|(at, _)| *at == i).map(|(_, life)| life));
    });
    payload.raw("}");
}

/// Returns the blocks up to which the cache should reach: the last one, and the last one before the newest answer with
/// calls, because a server looks only 20 blocks back for a mark, and a round of many calls is longer. A received block
/// must stay unchanged.
fn marks(turns: &[RoleTurn<'_>]) -> Vec<(usize, usize)> {
    let is_call = |block: &RequestBlock<'_>| match block {
        RequestBlock::Call(_) => true,
        RequestBlock::Received(block) => block["type"] == "tool_use",
        RequestBlock::Text(..) | RequestBlock::Result(..) | RequestBlock::File(_) => false,
    };
    let calls = turns.iter().rposition(|turn| turn.assistant && turn.blocks.iter().any(is_call));
    let last_of = |i: usize| {
        let j = turns.get(i)?.blocks.len().checked_sub(1)?;
        let block = turns.get(i)?.blocks.get(j)?;
        (!matches!(block, RequestBlock::Received(_))).then_some((i, j))
    };
    let before_calls = calls.and_then(|i| i.checked_sub(1)).and_then(last_of);
    let last = turns.len().checked_sub(1).and_then(last_of);
    before_calls.into_iter().chain(last).collect()
}

fn turns(path: &[ChatMessage]) -> Vec<RoleTurn<'_>> {
    let mut turns: Vec<RoleTurn<'_>> = Vec::new();
    for message in path {
        let assistant = message.role == Role::Assistant;
        let blocks = blocks(message);
        if blocks.is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some(turn) if turn.assistant == assistant => turn.blocks.extend(blocks),
            _ => turns.push(RoleTurn { assistant, blocks }),
        }
    }
    turns
}

fn blocks(message: &ChatMessage) -> Vec<RequestBlock<'_>> {
    if let Some(replay) = &message.replay {
        return replay.json()["content"]
            .as_array()
            .into_iter()
            .flatten()
            .map(RequestBlock::Received)
            .collect();
    }
    let text = |label| RequestBlock::Text(label, &message.text);
    let mut blocks = match (message.role, &message.call_id) {
        (Role::Tool, Some(id)) => return vec![RequestBlock::Result(id, &message.text, &message.files)],
        // The API refuses texts of white space.
        _ if message.text.trim().is_empty() => Vec::new(),
        (Role::Tool, None) => vec![text("[tool]\n")],
        (Role::System, _) => vec![text("[system]\n")],
        (Role::User | Role::Assistant, _) => vec![text("")],
    };
    blocks.splice(..0, message.files.iter().map(RequestBlock::File));
    blocks.extend(message.calls.iter().map(RequestBlock::Call));
    blocks
}

fn write_block(payload: &mut Payload, block: &RequestBlock<'_>, marked: Option<CacheLife>) {
    match block {
        RequestBlock::Received(block) => return payload.json(*block),
        RequestBlock::Text(label, text) => {
            payload.raw("{\"type\":\"text\",\"text\":");
            payload.labelled_text(label, text);
        }
        RequestBlock::File(file) => {
            let kind = if file.media.is_image() { "image" } else { "document" };
            payload.raw("{\"type\":");
            payload.json(kind);
            payload.raw(",\"source\":{\"type\":\"base64\",\"media_type\":");
            payload.json(file.media.mime());
            payload.raw(",\"data\":");
            payload.file("", file);
            payload.raw("}");
        }
        RequestBlock::Call(call) => {
            let input = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
            payload.raw("{\"type\":\"tool_use\",\"id\":");
            payload.json(&call.id);
            payload.raw(",\"name\":");
            payload.json(&call.name);
            payload.raw(",\"input\":");
            payload.json(&input);
        }
        RequestBlock::Result(id, text, files) => {
            payload.raw("{\"type\":\"tool_result\",\"tool_use_id\":");
            payload.json(id);
            if !files.is_empty() {
                let words = Some(RequestBlock::Text("", text)).filter(|_| !text.trim().is_empty());
                let blocks = words.into_iter().chain(files.iter().map(RequestBlock::File));
                payload.raw(",\"content\":");
                list(payload, blocks, |payload, block| write_block(payload, &block, None));
            } else if !text.is_empty() {
                payload.raw(",\"content\":");
                payload.text(text);
            }
        }
    }
    payload.raw(match marked {
        Some(CacheLife::FiveMinutes) => ",\"cache_control\":{\"type\":\"ephemeral\"}}",
        Some(CacheLife::Hour) => ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}",
        None => "}",
    });
}
