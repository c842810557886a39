//! A conversation in the form of the Messages API: system blocks at the top, then turns of the user and the assistant,
//! each a list of blocks. At most three blocks are marked for the cache; the server takes four.

use serde_json::{Value, json};

use crate::body_context::BodyContext;
use crate::config::CacheLife;
use crate::media::MediaFile;
use crate::message::{ChatMessage, ChatRequest, ToolCall};
use crate::quirks::{MALFORMED, Quirk};
use crate::slots::{Slots, compact, with_field};
use crate::text::SharedText;
use lepo_base::role::Role;

/// The instruction is sent as a system message at the end, which only newer models accept.
pub(super) static SYSTEM_ROLE: Quirk = Quirk {
    word: "system_role",
    status: MALFORMED,
    named: &[&["system"], &["role"]],
    notice: "does not accept a system message at the end: retrying with it in the question",
};

/// Marks for the cache, which some servers of the API reject.
pub(super) static CACHE_CONTROL: Quirk = Quirk {
    word: "cache_control",
    status: MALFORMED,
    named: &[&["cache_control"]],
    notice: "does not accept `cache_control`: retrying without it",
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

/// Returns the values of `system` and `messages`.
pub fn conversation(slots: &mut Slots, asking: &mut BodyContext<'_>) -> (Vec<Value>, Vec<Value>) {
    let all = asking.request.messages;
    // After the instruction come messages from before a pause.
    let (path, inst, conversation) = match all.iter().rposition(|message| message.instruction) {
        Some(at) => (all.get(..at).unwrap_or_default(), all.get(at), all.get(at + 1..).unwrap_or_default()),
        None => (all, None, &[][..]),
    };
    let inst = inst.map(|message| &message.text);
    let life = Some(asking.config.cache).filter(|_| asking.accepts(&CACHE_CONTROL));
    let leading = path.iter().take_while(|message| message.role == Role::System).count();
    let (system, path) = path.split_at(leading);
    let system = system.iter().filter(|message| !message.text.trim().is_empty());
    let mut system: Vec<Value> =
        system.map(|message| block_json(slots, &RequestBlock::Text("", &message.text))).collect();
    if let (Some(last), Some(life)) = (system.last_mut(), life) {
        mark(last, life);
    }
    let mut turns = turns(path);
    let marked = marks(&turns);
    let mut trailing = None;
    if let Some(inst) = inst {
        match turns.last_mut().filter(|turn| !turn.assistant) {
            Some(_) if asking.accepts(&SYSTEM_ROLE) => trailing = Some(inst),
            Some(turn) => turn.blocks.push(RequestBlock::Text("[system]\n", inst)),
            // After an assistant's turn, and without any turn, the instruction becomes a user's turn.
            None => turns
                .push(RoleTurn { assistant: false, blocks: vec![RequestBlock::Text("[system]\n", inst)] }),
        }
    }
    let mut messages: Vec<Value> = turns.iter().map(|turn| turn_json(slots, turn)).collect();
    for (turn, block) in marked {
        let block = messages.get_mut(turn).and_then(|turn| turn["content"].get_mut(block));
        if let (Some(block), Some(life)) = (block, life) {
            mark(block, life);
        }
    }
    messages.extend(trailing.map(|inst| json!({"role": "system", "content": slots.text("", inst)})));
    messages.extend(self::turns(conversation).iter().map(|turn| turn_json(slots, turn)));
    (system, messages)
}

fn turn_json(slots: &mut Slots, turn: &RoleTurn<'_>) -> Value {
    let role = if turn.assistant { "assistant" } else { "user" };
    let blocks: Vec<Value> = turn.blocks.iter().map(|block| block_json(slots, block)).collect();
    with_field(json!({"role": role}), "content", blocks)
}

/// Marks a block: the server stores the request up to it.
fn mark(block: &mut Value, life: CacheLife) {
    block["cache_control"] = match life {
        CacheLife::FiveMinutes => json!({"type": "ephemeral"}),
        CacheLife::Hour => json!({"type": "ephemeral", "ttl": "1h"}),
    };
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

fn block_json(slots: &mut Slots, block: &RequestBlock<'_>) -> Value {
    match block {
        RequestBlock::Received(block) => slots.received(block),
        RequestBlock::Text(label, text) => json!({"type": "text", "text": slots.text(label, text)}),
        RequestBlock::File(file) => {
            let kind = if file.media.is_image() { "image" } else { "document" };
            let data = slots.file("", file);
            json!({"type": kind, "source": {"type": "base64", "media_type": file.media.mime(), "data": data}})
        }
        RequestBlock::Call(call) => {
            let input = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
        }
        RequestBlock::Result(id, text, []) => {
            let content = (!text.is_empty()).then(|| slots.text("", text));
            compact(json!({"type": "tool_result", "tool_use_id": id, "content": content}))
        }
        RequestBlock::Result(id, text, files) => {
            let text = Some(RequestBlock::Text("", text)).filter(|_| !text.trim().is_empty());
            let blocks = text.into_iter().chain(files.iter().map(RequestBlock::File));
            let blocks: Vec<Value> = blocks.map(|block| block_json(slots, &block)).collect();
            json!({"type": "tool_result", "tool_use_id": id, "content": blocks})
        }
    }
}
