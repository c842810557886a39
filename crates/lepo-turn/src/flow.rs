//! The order of a turn: `--run` commands, the question, the planner (chooser, writer, consent, command), the
//! answer.

use super::answer_loop::answer;
use super::attach::begin_files;
use super::fetch_attachments::fetch;
use super::folder_questions::take_answers;
use super::folders::{StartNeeds, ask_about_start};
use super::former_tools::former_offer;
use super::general_inst::has_new_result;
use super::opening::{opening, question_message};
use super::opening_parts::{add_last_parts, parts_before_commands, served_message};
use super::plan::plan;
use super::program_start::ask_about_key;
use super::received_calls::{restore_calls, save_calls};
use super::request::{Continuation, Decider, settle};
use super::stopped_answer::rest_message;
use super::summary_cut::with_possible_remedy;
use super::tools::ToolOffer;
use super::turn::{Turn, TurnResources, report_typed_secret};
use super::turn_path::TurnPath;
use super::turn_request::TurnRequest;
use super::unmask::forget_overtaken;
use super::{CommandRunner, Decision, Notice, Outcome, TurnEnv, TurnEvent, TurnStart, View, record_worktree};
use crate::config::{Insts, is_general_as_made};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_model::{Gate, ModelConfig, Planner, takes_prefill};
use lepo_store::conv::Forest;

/// Runs a turn. After an `Err` nothing was sent and nothing was written, as the turn had not started.
pub async fn execute_turn(
    env: &TurnEnv,
    config: &ModelConfig,
    insts: &Insts,
    forest: &Forest,
    view: &mut dyn View,
    mut ask: TurnRequest,
) -> Result<Outcome> {
    ask.prepare(env, config)?;
    if let Some(budget) = env.configured.budget() {
        budget.new_turn();
    }
    let gate = Gate::new();
    let paths = (&env.configured.paths, env.store.root());
    ask_about_key(config, paths, (&mut *view, &env.interrupt)).await?;
    let mut model = env.configured.model(config, env.settings().http_idle, gate.clone())?;
    let path = match TurnPath::at(&env.store, forest, ask.start, &env.masking) {
        Ok(path) if ask.unmasked => path.with_unmasked_outputs(),
        Ok(path) => path,
        Err(error) => {
            return Ok(Outcome {
                model: Some(config.name.clone()),
                error: Some(error),
                ..Outcome::default()
            });
        }
    };
    let mut servers = env.servers_of_turns().await;
    servers.new_turn();
    take_answers(&mut servers, &env.configured.paths);
    let resources = TurnResources { model: &mut model, gate, servers: &mut servers, view: &mut *view };
    let turn = Turn::new(env, (config, insts), resources, path, forest, &mut ask);
    let outcome = run(turn, ask).await;
    record_worktree(&env.configured.paths, &env.store, &outcome);
    env.configured.agent_sandboxes.report_leftovers(view);
    Ok(outcome)
}

/// Runs the turn. A failure is in the outcome, together with the results before it.
async fn run(mut turn: Turn<'_>, ask: TurnRequest) -> Outcome {
    let ended = go(&mut turn, ask).await;
    let ended = ended.map_err(|error| with_possible_remedy(error, &turn.path.messages));
    save_calls_on_path(&turn);
    let masking = turn.env.masking.clone();
    let truths = masking.truths();
    if let Some(notice) = masking.secrets_notice() {
        turn.view.on_event(TurnEvent::Notice(&notice));
    }
    let Turn { env, path, outcome, view, .. } = turn;
    let outcome = outcome.finish(path, view, ended).await;
    forget_overtaken(&env.store);
    // A turn that failed early has not reported it yet.
    report_typed_secret(&masking, outcome.user, view);
    Outcome { truths, ..outcome }
}

/// Stores the answers with calls as received, if later turns send them.
fn save_calls_on_path(turn: &Turn<'_>) {
    let outcome = &turn.outcome;
    let stopped = outcome.partial.filter(|_| outcome.is_continued);
    let end = outcome.answer.map(|answer| answer.name.id).or(stopped);
    if let Some(end) = end.filter(|_| turn.leaves_calls_on_path()) {
        save_calls(&turn.path, &turn.env.store, &turn.env.masking, turn.config, end);
    }
}

async fn go(turn: &mut Turn<'_>, mut ask: TurnRequest) -> Result<()> {
    let decision = ask.decision.take();
    open(turn, ask).await?;
    let offer = decide_or_plan(turn, decision).await?;
    answer(turn, offer).await
}

/// Runs the commands of `--run`, and starts to write the bubbs before the answer.
async fn open(turn: &mut Turn<'_>, mut ask: TurnRequest) -> Result<()> {
    turn.path.sends_unmasked = ask.unmasked;
    let served = fetch(turn, &ask.served, &mut ask.question).await?;
    if ask.question.is_none() && served.last().is_some_and(|(role, _)| *role == Role::Assistant) {
        return Err(Error::usage("the prompt ends with a message of the assistant, so there is no question")
            .hint("add a question: lepo do --prompt SERVER/NAME QUESTION"));
    }
    let mut parts = parts_before_commands(turn, &mut ask)?;
    if !ask.runs.is_empty() {
        for new in opening(std::mem::take(&mut parts)) {
            let (name, text) = turn.path.add_new(&new)?;
            turn.view.on_event(TurnEvent::Bubb(&name, Some(text.as_bytes())));
        }
        let mut ran = ask.ran.drain(..);
        for command in &ask.runs {
            let (runner, view) = (CommandRunner::new(turn.env), &mut *turn.view);
            let mut on_event = |event: TurnEvent<'_>| view.on_event(event);
            let path = &mut turn.path;
            let used = match ran.next() {
                Some(carried) => runner.store_own(path, command, &carried, &mut on_event)?,
                None => runner.run(path, command, &mut on_event).await?,
            };
            turn.outcome.tools.push(used);
        }
    }
    let masking = turn.env.masking.clone();
    parts.served = served.into_iter().map(|(role, text)| served_message(&masking, role, text)).collect();
    add_last_parts(&mut parts, turn, &mut ask);
    let mut files = Vec::new();
    if let Some(question) = ask.question {
        let (text, typed);
        typed = question.typed_ranges.clone();
        (text, files) = begin_files(&turn.env.store, question)?;
        parts.question = Some(question_message(&masking, text, &typed));
    }
    let mut opening = opening(parts);
    if ask.rest && !(opening.is_empty() && ask.runs.is_empty() && continues_unasked(turn)) {
        opening.push(rest_message());
    }
    if let TurnStart::Again(question) = ask.start {
        turn.path.mark_answering(question);
    }
    if opening.is_empty() {
        turn.gate.open();
    } else {
        let gate = turn.gate.clone();
        turn.path.write_in_background(opening, files, move || gate.open());
    }
    turn.choose_files();
    Ok(())
}

/// Whether the model continues a stopped answer at the end of a request, which then has no instruction after it.
fn continues_unasked(turn: &Turn<'_>) -> bool {
    let general = turn.insts.general.as_deref();
    let is_last = turn.schema.is_none()
        && !turn.code_only
        && general.is_none_or(is_general_as_made)
        && !has_new_result(&turn.path.messages);
    is_last && takes_prefill(turn.config, &turn.env.configured.paths.state)
}

/// Applies the decision with which the turn continues, or lets a chooser plan; returns the tools that the
/// model may call after it.
async fn decide_or_plan(turn: &mut Turn<'_>, decision: Option<Decision>) -> Result<ToolOffer> {
    let planner = turn.planner();
    let tools = turn.may_have_tools();
    ask_about_start(turn, StartNeeds { lists: tools, model: true, calls: &[] }).await?;
    if tools {
        // Servers start while the chooser is asked about commands.
        turn.servers.start_all();
        // Without servers, nothing will wait for their notices.
        if turn.servers.is_empty() {
            for notice in turn.servers.unsaid() {
                turn.view.on_event(TurnEvent::Notice(&Notice::Server(notice)));
            }
        }
    }
    let mut on_side_branch = false;
    let mut ended = false;
    if let Some(decision) = decision {
        on_side_branch = decision.name.role == Role::Assistant;
        restore_calls(&mut turn.path, &turn.env.store, turn.config, decision.name.id);
        if let Some(last) = turn.path.call_groups.last_mut().filter(|_| on_side_branch) {
            last.was_pending = true;
        }
        if let Some(truth) = &decision.truth {
            turn.path.restore_last(truth);
        }
        let by = Decider::Verdict(decision.verdict);
        ended = settle(turn, decision.request, decision.name, by).await? != Continuation::Again;
    }
    // A planner's bubbs belong to the conv, and not after a native call.
    if tools && !ended && planner == Planner::Chooser && !on_side_branch {
        plan(turn).await?;
    }
    turn.pending()?;
    if let Some(offer) = former_offer(turn)? {
        return Ok(offer);
    }
    // After a native call the model gets the same tools as before it, even if it may call none.
    let tools = tools && (!ended || on_side_branch);
    Ok(ToolOffer::new(tools, planner, turn.servers, ended))
}
