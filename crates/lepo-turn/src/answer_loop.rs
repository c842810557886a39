//! The answer, and the tools that a model calls before it: by fields of its API if the API has them,
//! otherwise by text as the prompt instructs it.
//!
//! Calls and results are a side branch after the last bubb of the conversation. The answer follows that bubb
//! too, so that later contexts do not include the side branch. With `tool_history = "keep"` it follows the last result.

use std::cell::RefCell;
use std::time::Instant;

use super::agent_branch::agent_session;
use super::answer_context::{AnswerContext, CallStyle};
use super::assembly::{ENDED, Purpose, assemble};
use super::body::{announcement, call_text, dropped_note};
use super::call_fault::call_fault;
use super::folders::ask_about_model;
use super::former_tools::{tool_hashes, tool_list};
use super::message::CallGroup;
use super::model_reply::ModelReply;
use super::native::request_of;
use super::next_question::has_form;
use super::outcome::FinishedAnswer;
use super::plan::plan;
use super::receive::receive;
use super::received_calls::save_pending_calls;
use super::recorded::RequestFacts;
use super::request::{Continuation, Decider, settle};
use super::schema::{complaint, unfit};
use super::send::send;
use super::servers::servers_ready;
use super::skills::{answer_skill_call, skills_to_store, store_skills};
use super::stopped_answer::{ends_with_part, is_stopped_text};
use super::tools::{ToolList, ToolOffer};
use super::turn::Turn;
use super::{Notice, TurnEvent};
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand, ResumeAction};
use lepo_base::role::Role;
use lepo_model::{AgentContext, ToolCall};
use lepo_store::bubb::BubbName;
use lepo_tool::ToolRequest;
use lepo_tool::mcp::CallRequest;

const NO_TOOLS: &str = "there are no tools here: answer in words";

/// A call in an answer.
enum CallForm {
    Native(ToolCall),
    InText(CallRequest),
}

struct LoopState {
    tools: ToolList,
    /// Remaining rounds of tools.
    rounds: usize,
    /// The requests executed since the question.
    executed: Vec<ToolRequest>,
    /// Length of the path at the start of the side branch; unset before the first request is sent.
    base: Option<usize>,
    cache_key: Option<String>,
    /// Options, schema and tools, for the journal.
    facts: RequestFacts,
    /// Whether an answer did not match the schema, and was requested again.
    asked_again: bool,
    /// Whether the model has already called tools that it may not call any more.
    warned: bool,
}

impl LoopState {
    /// Whether the model may call tools now.
    fn is_open(&self) -> bool {
        self.rounds > 0 && !self.tools.is_nothing()
    }

    fn way_to_call(&self) -> CallStyle {
        match self.tools.blocks {
            Some(_) => CallStyle::InText,
            None if self.is_open() => CallStyle::Native,
            None => CallStyle::Unoffered,
        }
    }
}

/// Requests the answer, which is streamed and becomes a visible bubb. The model may call the tools of `offer`
/// first.
pub(super) async fn answer(turn: &mut Turn<'_>, offer: ToolOffer) -> Result<()> {
    let mut progress = progress(turn, offer).await?;
    loop {
        let wanted = match ask_once(turn, &mut progress).await? {
            ModelReply::Refused(error) => {
                plan_instead(turn, error, &mut progress).await?;
                continue;
            }
            ModelReply::Answer(answered) => {
                store_answer(turn, answered, &progress);
                return Ok(());
            }
            ModelReply::Cut(part, error) => {
                turn.outcome.partial = part.map(|part| part.id);
                turn.outcome.is_continued = part.is_some_and(|part| is_stopped_answer(turn, &part));
                return Err(error);
            }
            ModelReply::Unfit(words, fault) => {
                ask_for_form(turn, &words, &fault, &mut progress)?;
                continue;
            }
            ModelReply::Calls(words, calls, replay) => {
                let index = turn.path.messages.len();
                if let Some(words) = words {
                    append_unmasked(turn, &words)?;
                }
                let group = CallGroup { index, calls: calls.clone(), replay, was_pending: false };
                turn.path.call_groups.push(group);
                calls.into_iter().map(CallForm::Native).collect()
            }
            ModelReply::TextCalls(words, calls) => {
                if !words.is_empty() {
                    turn.add(Role::Assistant, true, words.as_bytes())?;
                }
                calls.into_iter().map(CallForm::InText).collect()
            }
        };
        match progress.is_open() {
            true => calls_of_round(turn, wanted, &mut progress).await?,
            false => not_carried_out(turn, wanted, &mut progress)?,
        }
        // An answer that does not fit the schema is on a side branch, with what follows it.
        if turn.leaves_calls_on_path() && !progress.asked_again {
            progress.base = Some(turn.path.saved_len());
        }
    }
}

/// Prepares the loop: the tools are known, and no request was sent.
async fn progress(turn: &mut Turn<'_>, offer: ToolOffer) -> Result<LoopState> {
    if offer.calls && !offer.is_former {
        turn.question_saved().await?;
        turn.view.on_event(TurnEvent::Waiting);
        servers_ready(turn).await?;
    }
    let executed = turn.path.requests_of_turn();
    let tools = tool_list(turn, offer);
    let facts = RequestFacts::new(turn.config, turn.schema.as_deref(), &tool_hashes(turn, &tools));
    Ok(LoopState {
        cache_key: turn.cache_key(&tools.specs),
        tools,
        // A call would follow a stopped answer directly, which made it a text around calls.
        rounds: match offer.has_ended || ends_with_part(&turn.path.messages) {
            true => 0,
            false => (turn.env.settings().max_rounds.get() as usize).saturating_sub(executed.len()),
        },
        executed,
        // A continued turn has a side branch already.
        base: turn.path.side_branch().filter(|_| !turn.leaves_calls_on_path()),
        facts: if offer.is_former { facts.without_calls() } else { facts },
        asked_again: false,
        warned: false,
    })
}

async fn ask_once(turn: &mut Turn<'_>, progress: &mut LoopState) -> Result<ModelReply> {
    // Results since the last request may have files.
    turn.choose_files();
    if let Some(base) = progress.base {
        store_skills(turn, base)?;
    }
    if !progress.executed.is_empty() {
        ask_about_model(turn).await?;
    }
    let skills_to_store = skills_to_store(turn);
    let session = agent_session(turn);
    let schema = turn.schema.clone();
    let purpose = Purpose::Answer {
        schema: schema.as_deref(),
        code_only: turn.code_only,
        may_call: progress.rounds > 0,
        has_form: has_form(&turn.path.messages),
    };
    let path = &turn.path;
    let assembly = assemble(&path.messages, &path.call_groups, purpose, &progress.tools, turn.target());
    let (start, interrupt) = (Instant::now(), &turn.env.interrupt);
    let dir = Some(turn.env.store.root());
    let agent = AgentContext { session: session.as_deref(), forks: turn.forks, dir };
    let request = assembly.request(progress.cache_key.as_deref(), agent);
    let sent =
        interrupt.or(send(turn.model, turn.view, (&mut turn.path, &mut turn.outcome), request)).await?;
    let answer = match sent {
        Ok(answer) => answer,
        Err(error) => return Ok(ModelReply::Refused(error)),
    };
    let base = *progress.base.get_or_insert(turn.path.saved_len());
    let before = base.checked_sub(1).and_then(|last| turn.path.id_at(last));
    let agent_calls = RefCell::default();
    let context = AnswerContext {
        store: &turn.env.store,
        under: skills_to_store.or(before),
        tip: turn.path.tip(),
        before: None,
        order: None,
        agent_calls: &agent_calls,
        tools: progress.way_to_call(),
        can_ask: turn.env.configured.asks_for_agents(),
        schema: schema.as_deref(),
        model: &turn.config.name,
        start,
        limit: turn.env.settings().max_answer.get(),
        facts: &progress.facts,
        masking: &turn.env.masking,
    };
    let received = receive(answer, context, turn.view, interrupt).await;
    turn.outcome.tools.extend(agent_calls.into_inner());
    received
}

/// Continues without native tools if the server rejects them: they are described in the prompt, and a chooser
/// plans if that is still possible. Any other failure of the model ends the turn.
async fn plan_instead(turn: &mut Turn<'_>, failed: Error, progress: &mut LoopState) -> Result<()> {
    let LoopState { tools, base, .. } = &*progress;
    if tools.specs.is_empty() || turn.model.takes_tools() {
        return Err(failed);
    }
    if tools.offer.commands && progress.is_open() && base.is_none() {
        plan(turn).await?;
    }
    turn.pending()?;
    progress.tools = tool_list(turn, ToolOffer { commands: false, ..progress.tools.offer });
    Ok(())
}

/// Ends the side branch: the conversation continues from its start.
fn store_answer(turn: &mut Turn<'_>, answered: FinishedAnswer, progress: &LoopState) {
    if let Some(base) = progress.base {
        turn.path.end_side_branch(base, turn.skills.stored.take());
    }
    turn.outcome.answer = Some(answered);
    turn.outcome.is_json = turn.schema.is_some();
}

/// Whether the next question follows this part of an answer.
fn is_stopped_answer(turn: &Turn<'_>, part: &BubbName) -> bool {
    turn.env.store.text(part).is_ok_and(|text| is_stopped_text(&text))
}

/// Requests the answer again in the format of the schema, but only once.
fn ask_for_form(turn: &mut Turn<'_>, name: &BubbName, fault: &str, progress: &mut LoopState) -> Result<()> {
    if std::mem::replace(&mut progress.asked_again, true) {
        return Err(unfit(&turn.config.name, fault));
    }
    append_unmasked(turn, name)?;
    turn.add(Role::System, true, complaint(fault).as_bytes())?;
    turn.view.on_event(TurnEvent::Notice(&Notice::AskedAgain(fault.to_string())));
    progress.rounds = 0;
    Ok(())
}

/// Appends the text that the model just sent, without masks.
fn append_unmasked(turn: &mut Turn<'_>, name: &BubbName) -> Result<()> {
    turn.path.append(name)?;
    let last = turn.path.messages.last();
    if let Some(text) = last.and_then(|message| turn.env.masking.restored(&message.text)) {
        turn.path.restore_last(&text);
    }
    Ok(())
}

/// Answers calls that are not allowed any more; returns an error the second time.
fn not_carried_out(turn: &mut Turn<'_>, calls: Vec<CallForm>, progress: &mut LoopState) -> Result<()> {
    if std::mem::replace(&mut progress.warned, true) {
        return Err(Error::remote("the model keeps calling tools without answering").hint(
            Hint::from("ask again with ")
                .command(ResumeAction::Retry)
                .text(", or another model: ")
                .command(HintCommand::OtherModel),
        ));
    }
    let why = if progress.tools.is_nothing() { NO_TOOLS } else { ENDED };
    if let Some(note) = announcement(calls.len()) {
        turn.add(Role::Assistant, true, note.as_bytes())?;
    }
    for call in calls {
        let text = match call {
            CallForm::InText(request) => ToolRequest::Call(request).canonical(),
            CallForm::Native(call) => request_of(turn.servers, &call)
                .map_or_else(|| call_text(&call.name, &call.arguments), |request| request.canonical()),
        };
        turn.add(Role::Assistant, true, text.as_bytes())?;
        turn.add(Role::Tool, true, format!("error: {why}").as_bytes())?;
    }
    Ok(())
}

/// Executes the calls of an answer: a round of tools.
async fn calls_of_round(turn: &mut Turn<'_>, calls: Vec<CallForm>, progress: &mut LoopState) -> Result<()> {
    let names = progress.tools.names(turn.servers);
    progress.rounds = match carry_out_calls(turn, calls, (&names, &mut progress.executed)).await? {
        Continuation::Again if progress.rounds == 1 => {
            let limit = turn.env.settings().max_rounds.get();
            turn.view.on_event(TurnEvent::Notice(&Notice::NoMoreTools(limit)));
            0
        }
        Continuation::Again => progress.rounds - 1,
        Continuation::Answer => 0,
        Continuation::Wait => {
            if let Some(id) = turn.outcome.pending {
                save_pending_calls(&turn.path, &turn.env.store, turn.config, id);
            }
            turn.store_unmasked();
            return turn.pending();
        }
    };
    Ok(())
}

/// Executes the calls of an answer in order. Calls after a call that ends tool use are dropped.
async fn carry_out_calls(
    turn: &mut Turn<'_>,
    calls: Vec<CallForm>,
    (names, executed): (&[String], &mut Vec<ToolRequest>),
) -> Result<Continuation> {
    turn.env.sandbox.start(turn.env.store.root());
    if let Some(note) = announcement(calls.len()) {
        turn.add(Role::Assistant, true, note.as_bytes())?;
    }
    let mut calls = calls.into_iter();
    while let Some(call) = calls.next() {
        let request = match call {
            CallForm::InText(request) => Ok(ToolRequest::Call(turn.servers.meant(request))),
            CallForm::Native(call) => request_of(turn.servers, &call).ok_or(call),
        };
        let request = match request {
            Ok(request) => request,
            Err(call) if answer_skill_call(turn, &call)? => continue,
            Err(call) => {
                turn.add(Role::Assistant, true, call_text(&call.name, &call.arguments).as_bytes())?;
                let text = match turn.servers.not_up_by_name(&call.name) {
                    Some(not_up) => format!("error: {not_up}"),
                    None => call_fault(&call, names),
                };
                turn.add(Role::Tool, true, text.as_bytes())?;
                continue;
            }
        };
        let name = turn.add(Role::Assistant, true, request.canonical().as_bytes())?;
        let next = settle(turn, request, name, Decider::Turn { done: executed }).await?;
        if next == Continuation::Answer && calls.len() > 0 {
            turn.add(Role::System, true, dropped_note(calls.len()).as_bytes())?;
        }
        if next != Continuation::Again {
            return Ok(next);
        }
    }
    Ok(Continuation::Again)
}
