//! A request of a model, from consent to result. Requests of planners and calls of models are handled alike.

use super::body::REFUSED;
use super::call::{call, propose_call};
use super::command_runner::{CommandRunner, ToolResult};
use super::decision::Verdict;
use super::event::ask_consent;
use super::servers::servers_ready;
use super::skills::readable_skills;
use super::steering::{agree_to_texts, steering_texts};
use super::steering_texts::SteeringTexts;
use super::turn::Turn;
use super::{CommandOrigin, Notice, ToolUse, TurnEvent};
use lepo_base::error::{Error, ExitKind as ErrorKind, Result};
use lepo_base::role::Role;
use lepo_store::bubb::BubbName;
use lepo_tool::{
    AllowedRequests, CommandProposal, Consent, ConsentReply, Grant, GrantedCommand, Proposal, ToolMode,
    ToolRequest,
};

/// The result of a request that would be pending, in a conversation that is not stored.
pub(super) const NOBODY: &str = "refused: there was nobody to ask";

/// The result of a call whose tool changed between the decision and the call.
pub(super) const CHANGED: &str = "error: the tool changed after the call was approved, so it was not made";

/// How tool use continues after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuation {
    /// The model may request more.
    Again,
    /// Tool use has ended for this turn: the model answers with the results so far.
    Answer,
    /// The request is pending, and the turn ends.
    Wait,
}

/// The source of the consent to a request.
pub(super) enum Decider<'d> {
    /// The settings and the user, in the turn that wrote it. `done` are the requests executed since the question.
    Turn { done: &'d mut Vec<ToolRequest> },
    /// The user, in a later turn or with an option; whoever read the request has claimed it.
    Verdict(Verdict),
}

/// Gets consent for a request, the last bubb of the path, runs it, and adds its result.
pub(super) async fn settle(
    turn: &mut Turn<'_>,
    mut request: ToolRequest,
    mut name: BubbName,
    mut by: Decider<'_>,
) -> Result<Continuation> {
    // Until its result is written, no other process can decide on it.
    let mut _claim = match by {
        Decider::Turn { .. } => Some(turn.env.store.claim(name.id)?),
        Decider::Verdict(_) => None,
    };
    loop {
        if let Some(next) = settled_unasked(turn, &name, &request, &mut by)? {
            return Ok(next);
        }
        if let (Decider::Verdict(_), ToolRequest::Call(_)) = (&by, &request) {
            servers_ready(turn).await?;
        }
        let mut proposal = match propose(turn, &request).await? {
            Ok(proposal) => proposal,
            Err(why) => {
                if let Decider::Verdict(_) = by {
                    turn.env.store.forget_replay(name.id)?;
                }
                return not_run(turn, &name, &request, &why);
            }
        };
        let steering = steering_texts(turn, &proposal)?;
        proposal.name_unagreed(steering.names());
        let consent = match &by {
            Decider::Turn { .. } => consent_in_turn(turn, proposal, &request, &steering).await?,
            Decider::Verdict(verdict) => {
                consent_by_verdict(turn, proposal, (&name, &request), &steering, *verdict).await?
            }
        };
        let granted = match consent {
            Consent::Granted(granted) => granted,
            Consent::Edited(edited) => {
                let edited = ToolRequest::Command(edited);
                if edited != request {
                    name = turn.add(name.role, true, edited.canonical().as_bytes())?;
                    _claim = Some(turn.env.store.claim(name.id)?);
                    request = edited;
                }
                continue;
            }
            Consent::Refused => return not_run(turn, &name, &request, REFUSED),
            Consent::Pending if !turn.env.keeps && matches!(by, Decider::Turn { .. }) => {
                return not_run(turn, &name, &request, NOBODY);
            }
            Consent::Pending => {
                turn.wait_for(&name, &request);
                return Ok(Continuation::Wait);
            }
        };
        match (run_granted(turn, &name, &request, granted).await?, &mut by) {
            (Some(next), Decider::Turn { done }) => {
                done.push(request);
                return Ok(next);
            }
            (Some(next), Decider::Verdict(_)) => return Ok(next),
            (None, Decider::Verdict(_)) => return not_run(turn, &name, &request, CHANGED),
            // The tool changed in the meantime and was not called: the call is proposed again with the new definition.
            (None, Decider::Turn { .. }) => {}
        }
    }
}

/// Adds the result of a request that nobody has to be asked about, and returns how tool use continues.
fn settled_unasked(
    turn: &mut Turn<'_>,
    name: &BubbName,
    request: &ToolRequest,
    by: &mut Decider<'_>,
) -> Result<Option<Continuation>> {
    let done = match by {
        Decider::Turn { done } => done,
        Decider::Verdict(Verdict::Deny) => {
            turn.env.store.forget_replay(name.id)?;
            return not_run(turn, name, request, REFUSED).map(Some);
        }
        Decider::Verdict(_) => return Ok(None),
    };
    if done.iter().any(|earlier| earlier.same_action(request)) {
        let text = "This very request was carried out before in this turn; its result is above.";
        add_result(turn, name, request, text.as_bytes(), None)?;
        return Ok(Some(Continuation::Again));
    }
    let Some((text, exit)) = recorded(turn, request) else { return Ok(None) };
    turn.view.on_event(TurnEvent::Notice(&Notice::Recorded(request.line())));
    add_result(turn, name, request, &text, exit)?;
    done.push(request.clone());
    Ok(Some(if text == REFUSED.as_bytes() { Continuation::Answer } else { Continuation::Again }))
}

/// Gets consent in the turn of a request: from the settings, from an allowance, or else from the user.
async fn consent_in_turn(
    turn: &mut Turn<'_>,
    proposal: Proposal,
    request: &ToolRequest,
    steering: &SteeringTexts,
) -> Result<Consent> {
    let (mode, most) = (turn.env.settings().tool_call_mode, turn.env.settings().auto_access);
    // A replay runs no tools automatically.
    let mode = if turn.results.is_some() { ToolMode::Manual } else { mode };
    let unasked = proposal.runs_unasked(mode, most);
    let Some(granted) = unasked.or_else(|| allowed(turn, |allowed| allowed.grants(&proposal))) else {
        return ask_user(turn, proposal, request, steering).await;
    };
    turn.view.on_event(TurnEvent::Announce(&proposal));
    Ok(Consent::Granted(granted))
}

/// Gets consent from a verdict. The user is asked only if it says so, or if no sandbox can enforce the access.
async fn consent_by_verdict(
    turn: &mut Turn<'_>,
    proposal: Proposal,
    (name, request): (&BubbName, &ToolRequest),
    steering: &SteeringTexts,
    verdict: Verdict,
) -> Result<Consent> {
    let asks = verdict == Verdict::Ask || proposal.is_unheld() && verdict == Verdict::Approve;
    let reply = if asks {
        turn.env.interrupt.or(ask_consent(turn.view, &proposal)).await?
    } else {
        turn.view.on_event(TurnEvent::Approved(&proposal));
        verdict.reply()
    };
    if reply == ConsentReply::Always {
        allowed(turn, |allowed| allowed.note(&proposal));
    }
    if asks && reply.agrees() {
        agree_to_texts(turn, steering)?;
    }
    match (verdict, &reply) {
        (Verdict::Ask, ConsentReply::NoTerminal) => return Ok(Consent::Pending),
        (_, ConsentReply::NoTerminal | ConsentReply::Edit(_)) => {
            return Err(Error::usage(format!(
                "no sandbox here can enforce the access of request {}",
                name.id
            ))
            .hint(
                "it is still pending; install bubblewrap, or add --unheld to run it with all your rights",
            ));
        }
        _ => {}
    }
    // After the decision, the stored answer is in memory, and no longer needed on disk.
    turn.env.store.forget_replay(name.id)?;
    let consent = Consent::from_reply(proposal, reply);
    if let Consent::Granted(_) = &consent {
        pin_tool(turn, request)?;
    }
    Ok(consent)
}

/// Asks for consent, and records what the user agreed to.
async fn ask_user(
    turn: &mut Turn<'_>,
    proposal: Proposal,
    request: &ToolRequest,
    steering: &SteeringTexts,
) -> Result<Consent> {
    let reply = turn.env.interrupt.or(ask_consent(turn.view, &proposal)).await?;
    if reply == ConsentReply::Always {
        allowed(turn, |allowed| allowed.note(&proposal));
    }
    if reply.agrees() {
        agree_to_texts(turn, steering)?;
    }
    let consent = Consent::from_reply(proposal, reply);
    if let Consent::Granted(_) = &consent {
        pin_tool(turn, request)?;
        if let ToolRequest::Command(request) = request {
            turn.view.on_event(TurnEvent::CommandStarted(&request.command));
        }
    }
    Ok(consent)
}

/// Returns the recorded result of this request, in a replay.
fn recorded(turn: &Turn<'_>, request: &ToolRequest) -> Option<(Vec<u8>, Option<i32>)> {
    let (text, exit) = turn.results.as_ref()?.find(request, &turn.env.masking)?;
    Some((text.to_vec(), exit))
}

/// Accesses the requests that the user allowed for the rest of the session.
fn allowed<T>(turn: &Turn<'_>, access: impl FnOnce(&mut AllowedRequests) -> T) -> T {
    access(&mut turn.env.allowed.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Returns the proposal for consent, or a text for the model why the request is not possible.
async fn propose(
    turn: &mut Turn<'_>,
    request: &ToolRequest,
) -> Result<std::result::Result<Proposal, String>> {
    match request {
        ToolRequest::Command(request) => Ok(Ok(Proposal::Command(CommandProposal {
            request: request.clone(),
            dir: turn.env.store.root().to_path_buf(),
            sandbox: turn.env.sandbox.get(turn.env.store.root()).await.holding(request.access),
            unagreed: Vec::new(),
        }))),
        ToolRequest::Call(request) => propose_call(turn, request).await,
    }
}

/// Pins the tool of a call with the definition that the user agreed to; a command has no pin.
fn pin_tool(turn: &Turn<'_>, request: &ToolRequest) -> Result<()> {
    match request {
        ToolRequest::Call(request) => match turn.servers.live(request) {
            Some((server, tool)) => turn.env.pins.record_consent(server, tool),
            None => Ok(()),
        },
        ToolRequest::Command(_) => Ok(()),
    }
}

/// Runs a granted request and adds its result; `None` if it did not run because its tool has changed.
async fn run_granted(
    turn: &mut Turn<'_>,
    name: &BubbName,
    request: &ToolRequest,
    granted: Grant,
) -> Result<Option<Continuation>> {
    let carried = match granted {
        Grant::Command(granted) => carry_out(turn, granted).await.map(Some),
        Grant::Call(granted) => call(turn, granted).await,
    };
    let carried = match carried {
        // A result ends the pending state, so the request cannot run a second time by mistake.
        Err(error) if matches!(error.kind, ErrorKind::Signal(_)) => {
            add_result(turn, name, request, b"interrupted: it had begun, and was ended", None)?;
            return Err(error);
        }
        carried => carried?,
    };
    let Some(carried) = carried else { return Ok(None) };
    if let (ToolRequest::Command(_), Some(code @ 1..)) = (request, carried.exit) {
        turn.view.on_event(TurnEvent::Notice(&Notice::ExitCode(code)));
    }
    let result = add_result(turn, name, request, &carried.text, carried.exit)?;
    CommandRunner::new(turn.env).journal(&result, request.kind(), &carried);
    Ok(Some(if carried.ran { Continuation::Again } else { Continuation::Answer }))
}

async fn carry_out(turn: &mut Turn<'_>, granted: GrantedCommand) -> Result<ToolResult> {
    let readable = readable_skills(turn);
    let runner = CommandRunner { readable: &readable, ..CommandRunner::new(turn.env) };
    let view = &mut *turn.view;
    runner.carry_out(granted, CommandOrigin::Model, &mut |event| view.on_event(event)).await
}

/// Adds the result of a request: of kind tool after a model's call, of kind system after a planner's request.
fn add_result(
    turn: &mut Turn<'_>,
    name: &BubbName,
    request: &ToolRequest,
    text: &[u8],
    exit: Option<i32>,
) -> Result<BubbName> {
    let role = if name.role == Role::Assistant { Role::Tool } else { Role::System };
    let result = turn.add(role, true, text)?;
    let used = ToolUse { result: Some(result.id), exit, ..ToolUse::new(name, request) };
    turn.outcome.tools.push(used);
    Ok(result)
}

/// Adds the reason as the result of a request that does not run, and ends tool use for this turn.
fn not_run(turn: &mut Turn<'_>, name: &BubbName, request: &ToolRequest, why: &str) -> Result<Continuation> {
    add_result(turn, name, request, why.as_bytes(), None)?;
    Ok(Continuation::Answer)
}
