//! Tool use before the answer: chooser, writer, consent and command, repeated until no command is needed.
//!
//! A model that plans so by default has both instructions in its system prompt, and the last message only names one of
//! them: so the requests of a turn and the next turn share all that is before.

use std::time::Instant;

use super::body::{Body, announcement};
use super::context::{Inst, messages};
use super::folders::ask_about_model;
use super::journal::usage_entry;
use super::path_entry::PathEntry;
use super::planner::{ChooserAnswer, choice_schema, read_requests, request_schema};
use super::request::{Continuation, decide_and_run};
use super::send::send_whole;
use super::stored_calls::calls_for;
use super::turn::Turn;
use super::{Notice, TurnEvent};
use lepo_base::error::Result;
use lepo_model::{ChatRequest, ConversationFormat, Planner, Schema, spec};
use lepo_store::bubb::{BubbId, Kind};
use lepo_store::store::JournalEntry;
use lepo_tool::ToolRequest;

/// Precedes both instructions in the system prompt.
const ONLY: &str = "Only when the last message asks for a plan, reply as follows. To every other message answer in words, \
    and never with such a JSON object.";

/// Asks for the choice.
const CHOOSE: &str = "plan: choose";

/// Asks for the command.
const WRITE: &str = "plan: write";

/// Repeats chooser, writer, consent and command until no command is needed.
pub(super) async fn plan(turn: &mut Turn<'_>) -> Result<()> {
    let (chooser, writer) = planner_insts(turn);
    let mut done = turn.record.transcript.requests_of_turn();
    turn.env.sandbox.start(turn.env.store.root());
    for _ in done.len()..turn.env.settings().max_rounds as usize {
        if !done.is_empty() {
            ask_about_model(turn).await?;
        }
        let choice = ask(turn, &chooser, &choice_schema(), ChooserAnswer::read).await?;
        let Some((choice, used)) = choice else {
            turn.front.on_event(TurnEvent::Notice(&Notice::ChooserUnreadable));
            return Ok(());
        };
        let name = turn.add(Kind::System, true, choice.canonical().as_bytes())?;
        journal(turn, Some(name.id), "chooser", used);
        if choice == ChooserAnswer::None {
            return Ok(());
        }
        let written = ask(turn, &writer, &request_schema(), read_requests).await?;
        let Some(((requests, mut words), used)) = written else {
            turn.front.on_event(TurnEvent::Notice(&Notice::WriterUnreadable));
            return Ok(());
        };
        if let Some(told) = announcement(requests.len()) {
            words.push_str(if words.is_empty() { "" } else { "\n\n" });
            words.push_str(&told);
        }
        if !words.is_empty() {
            turn.add(Kind::Assistant, true, words.as_bytes())?;
        }
        let mut used = Some(used);
        for request in requests {
            let name = turn.add(Kind::System, true, request.canonical().as_bytes())?;
            if let Some(used) = used.take() {
                journal(turn, Some(name.id), "writer", used);
            }
            match decide_and_run(turn, ToolRequest::Command(request), name, &mut done).await? {
                Continuation::Again => {}
                Continuation::Answer => return Ok(()),
                Continuation::Wait => {
                    turn.keep_truth();
                    return Ok(());
                }
            }
        }
    }
    let limit = turn.env.settings().max_rounds;
    turn.front.on_event(TurnEvent::Notice(&Notice::NoMoreCommands(limit)));
    Ok(())
}

/// Asks a question with an answer in JSON; `None` if both attempts are invalid.
async fn ask<T>(
    turn: &mut Turn<'_>,
    inst: &Option<String>,
    schema: &Schema,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<(T, RequestCost)>> {
    let transcript = &turn.record.transcript;
    let (called, form) = calls_for(false, &transcript.entries, &transcript.called, spec(turn.config).path);
    let plans = plans_text(turn);
    let messages =
        messages(&transcript.entries, called, Inst::Planner(inst.as_deref()), form, plans.as_deref());
    let cache_key = turn.cache_key(&[]);
    let with_schema = ChatRequest { messages: &messages, schema: Some(schema), ..ChatRequest::default() };
    for schema in [Some(schema), None] {
        let cache_key = cache_key.as_deref();
        let request = ChatRequest { messages: &messages, schema, cache_key, ..ChatRequest::default() };
        if schema.is_none() && turn.model.fields(request) == turn.model.fields(with_schema) {
            // The server got these bytes already.
            break;
        }
        let start = Instant::now();
        let interrupt = &turn.env.interrupt;
        let work = send_whole(turn.model, turn.front, &mut turn.record, request);
        let (text, usage) = interrupt.or(work).await?;
        let used = RequestCost { usage, ms: start.elapsed().as_millis() as u64 };
        match read(&text) {
            Some(found) => return Ok(Some((found, used))),
            None => journal(turn, None, "unreadable", used),
        }
    }
    Ok(None)
}

/// Returns the instructions of chooser and writer for the system prompt, if not in the last message: for
/// models that plan so by default. They stay where tools are off for one question.
fn plans_text(turn: &Turn<'_>) -> Option<String> {
    let spec = spec(turn.config);
    let is_its_way = spec.planner == Planner::Chooser && spec.path == ConversationFormat::Prompted;
    let is_on = match turn.env.settings().planner_or(spec.planner) {
        Planner::Chooser | Planner::Native | Planner::Auto => true,
        Planner::Off => {
            let planned = |entry: &PathEntry| matches!(entry.body, Body::Choice(_));
            turn.env.settings().planner_with_tools(spec.planner) != Planner::Off
                && turn.record.transcript.entries.iter().any(planned)
        }
    };
    let (chooser, writer) = (turn.insts.tool_chooser.as_deref()?, turn.insts.command_writer.as_deref()?);
    (is_its_way && is_on).then(|| {
        let (chooser, writer) = (chooser.trim(), writer.trim());
        format!("{ONLY}\n\nIf it says `{CHOOSE}`:\n{chooser}\n\nIf it says `{WRITE}`:\n{writer}")
    })
}

/// Returns the last messages of the requests of chooser and writer.
pub fn planner_insts(turn: &Turn<'_>) -> (Option<String>, Option<String>) {
    match plans_text(turn) {
        Some(_) => (Some(CHOOSE.to_string()), Some(WRITE.to_string())),
        None => (turn.insts.tool_chooser.clone(), turn.insts.command_writer.clone()),
    }
}

/// Returns what follows the system prompt: the instructions of chooser and writer, and the tools as text, which stay last.
pub fn prompt_end(turn: &Turn<'_>, blocks: Option<&str>) -> Option<String> {
    match (plans_text(turn), blocks) {
        (Some(plans), Some(blocks)) => Some(format!("{plans}\n\n{blocks}")),
        (plans, blocks) => plans.or(blocks.map(str::to_string)),
    }
}

fn journal(turn: &Turn<'_>, bubb: Option<BubbId>, what: &str, used: RequestCost) {
    let entry = usage_entry(what, &turn.config.name, used.usage, used.ms);
    turn.env.store.journal().add(JournalEntry { bubb, ..entry });
}

/// The cost of a request.
struct RequestCost {
    usage: lepo_model::Usage,
    ms: u64,
}
