//! Tool use before the answer: chooser, writer, consent and command, repeated until no command is needed.

use std::time::Instant;

use super::assembly::{Purpose, Target, assemble};
use super::body::announcement;
use super::context::instruction;
use super::folders::ask_about_model;
use super::journal::usage_entry;
use super::planner::{
    CHOOSE, ChooserAnswer, JSON_ALONE, WRITE, choice_schema, read_requests, request_schema,
};
use super::request::{Continuation, Decider, settle};
use super::send::send_whole;
use super::tools::ToolList;
use super::turn::Turn;
use super::{Notice, TurnEvent};
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_model::{AgentContext, Schema};
use lepo_store::bubb::BubbId;
use lepo_store::store::JournalRecord;
use lepo_tool::ToolRequest;

/// Repeats chooser, writer, consent and command until no command is needed.
pub(super) async fn plan(turn: &mut Turn<'_>) -> Result<()> {
    let (chooser, writer) = planner_insts(turn);
    let mut done = turn.path.requests_of_turn();
    turn.env.sandbox.start(turn.env.store.root());
    for _ in done.len()..turn.env.settings().max_rounds.get() as usize {
        if !done.is_empty() {
            ask_about_model(turn).await?;
        }
        let choice = ask(turn, &chooser, &choice_schema(), ChooserAnswer::read).await?;
        let Some((choice, used)) = choice else {
            turn.view.on_event(TurnEvent::Notice(&Notice::ChooserUnreadable));
            return Ok(());
        };
        let name = turn.add(Role::System, true, choice.canonical().as_bytes())?;
        journal(turn, Some(name.id), "chooser", used);
        if choice == ChooserAnswer::None {
            return Ok(());
        }
        let written = ask(turn, &writer, &request_schema(), read_requests).await?;
        let Some(((requests, mut words), used)) = written else {
            turn.view.on_event(TurnEvent::Notice(&Notice::WriterUnreadable));
            return Ok(());
        };
        if let Some(note) = announcement(requests.len()) {
            words.push_str(if words.is_empty() { "" } else { "\n\n" });
            words.push_str(&note);
        }
        if !words.is_empty() {
            turn.add(Role::Assistant, true, words.as_bytes())?;
        }
        let mut used = Some(used);
        for request in requests {
            let name = turn.add(Role::System, true, request.canonical().as_bytes())?;
            if let Some(used) = used.take() {
                journal(turn, Some(name.id), "writer", used);
            }
            match settle(turn, ToolRequest::Command(request), name, Decider::Turn { done: &mut done }).await?
            {
                Continuation::Again => {}
                Continuation::Answer => return Ok(()),
                Continuation::Wait => {
                    turn.store_unmasked();
                    return Ok(());
                }
            }
        }
    }
    let limit = turn.env.settings().max_rounds.get();
    turn.view.on_event(TurnEvent::Notice(&Notice::NoMoreCommands(limit)));
    Ok(())
}

/// Asks a question with an answer in JSON; `None` if both attempts are invalid.
async fn ask<T>(
    turn: &mut Turn<'_>,
    inst: &Option<String>,
    schema: &Schema,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<(T, RequestCost)>> {
    let (path, tools) = (&turn.path, ToolList::default());
    let purpose = Purpose::Plan { inst: inst.as_deref(), schema: Some(schema) };
    let target = Target { web: false, ..turn.target() };
    let mut assembly = assemble(&path.messages, &path.call_groups, purpose, &tools, target);
    let cache_key = turn.cache_key(&[]);
    for schema in [Some(schema), None] {
        assembly.schema = schema;
        let request = assembly.request(cache_key.as_deref(), AgentContext::default());
        let start = Instant::now();
        let interrupt = &turn.env.interrupt;
        let work = send_whole(turn.model, turn.view, (&mut turn.path, &mut turn.outcome), request);
        let (text, usage) = interrupt.or(work).await?;
        let used = RequestCost { usage, ms: start.elapsed().as_millis() as u64 };
        match read(&text) {
            Some(found) => return Ok(Some((found, used))),
            None => journal(turn, None, "unreadable", used),
        }
        if schema.is_some()
            && !turn.model.sends_schema(assembly.request(cache_key.as_deref(), AgentContext::default()))
        {
            assembly.messages.push(instruction(JSON_ALONE));
        }
    }
    Ok(None)
}

/// Returns the last messages of the requests of chooser and writer.
pub fn planner_insts(turn: &Turn<'_>) -> (Option<String>, Option<String>) {
    match turn.plans() {
        Some(_) => (Some(CHOOSE.to_string()), Some(WRITE.to_string())),
        None => (turn.insts.tool_chooser.clone(), turn.insts.command_writer.clone()),
    }
}

fn journal(turn: &Turn<'_>, bubb: Option<BubbId>, what: &str, used: RequestCost) {
    let entry = usage_entry(what, &turn.config.name, used.usage, used.ms);
    turn.env.store.journal().add(JournalRecord { bubb, ..entry });
}

/// The cost of a request.
struct RequestCost {
    usage: lepo_model::Usage,
    ms: u64,
}
