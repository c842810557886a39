//! A turn of a session, and its result: the answer, a pending request, or a stored question.

use super::around_turn::print_stopped;
use super::error_line::print_error;
use super::session::{ReplSession, SIGINT, report_error};
use super::window::warn_if_full;
use crate::term::{print_status, print_status_dim};
use crate::ui::{self, StopPoint, TurnView, ViewEvent, ViewState};
use lepo_base::error::{ExitKind, Result};
use lepo_store::bubb::BubbName;
use lepo_store::conv::Forest;
use lepo_turn::{Conversation, FailedStep, Outcome, TurnEnv, TurnRequest, execute_turn};

/// Reports a pending request, and how to decide on it.
fn print_pending(needs: &str) {
    print_status(needs);
    print_status("  /approve or /deny it; another question drops it");
}

/// Finds and reports the request that is pending at the end of the session's conversation.
pub(super) fn find_waiting(session: &mut ReplSession<'_>, tip: BubbName) -> Result<()> {
    let waiting = ui::waiting_at(&session.store, &tip)?;
    session.conversation.position.pending = waiting.as_ref().map(|_| tip.id);
    if let Some(request) = waiting.filter(|_| !session.display.quiet) {
        print_pending(&format!("needs approval: {}", request.line()));
    }
    Ok(())
}

/// Runs a turn, and continues after its result.
pub(super) async fn turn(
    session: &mut ReplSession<'_>,
    state: ViewState,
    forest: &Forest,
    ask: TurnRequest,
) -> Result<ViewState> {
    let (start, question) = (ask.start, ask.question.clone());
    match run(session, state, forest, ask).await {
        Ok(outcome) => {
            session.runs.clear();
            session.files.clear();
            session.contexts.clear();
            let moved = session.conversation.follow(&session.store, start, &outcome)?;
            ui::note_branch(&moved, session.display.quiet);
            warn_if_full(session).await?;
            let user = outcome.user;
            match outcome.error {
                Some(ref error) if error.kind == ExitKind::Signal(SIGINT) => {
                    print_stopped(session, &outcome)?;
                    Ok(state.after(ViewEvent::Failed).after(ViewEvent::Reported))
                }
                Some(ref error) if matches!(error.kind, ExitKind::Signal(_)) => {
                    let stop_point = StopPoint::find(&session.store, &outcome).unwrap_or(StopPoint::Nothing);
                    outcome.error.map_or(Ok(state), |error| Err(stop_point.explain(error)))
                }
                Some(error) if error.kind == ExitKind::Pending => {
                    print_pending(&error.chain());
                    Ok(state.after(ViewEvent::Failed).after(ViewEvent::Reported))
                }
                Some(error) => report_error(state, &ui::with_kept_question(error, user)),
                None => Ok(state.after(ViewEvent::Done)),
            }
        }
        // The turn never started: store the question anyway.
        Err(error) => {
            let keep =
                |question| session.conversation.store_question(session.env, question, FailedStep::Begin);
            if question.map(keep).transpose()?.flatten().is_some() {
                session.files.clear();
                session.contexts.clear();
                print_error(&error);
                print_status("Your question is kept: /retry answers it.");
                return Ok(state.after(ViewEvent::Failed).after(ViewEvent::Reported));
            }
            report_error(state, &error)
        }
    }
}

/// Runs the turn itself, with a view.
async fn run(
    session: &mut ReplSession<'_>,
    state: ViewState,
    forest: &Forest,
    ask: TurnRequest,
) -> Result<Outcome> {
    let model = session.model().await?;
    let insts = ui::insts_with_warnings(session.env.insts()?);
    let served = std::mem::take(&mut session.served);
    let skill = session.named_skill.take();
    let unmasked = std::mem::take(&mut session.unmasked);
    let ask = TurnRequest { served, skill, unmasked, ..ask };
    let turn = async |env: &TurnEnv, _: &mut Conversation, view: &mut TurnView<'_>| {
        execute_turn(env, &model, &insts, forest, view, ask).await
    };
    let result = session.with_view(state, turn).await;
    if let Ok(outcome) = &result
        && let Some(answer) = &outcome.answer
    {
        session.tokens.add(answer.usage.input, answer.usage.output);
        let shows_usage = !session.display.no_usage && session.env.settings().term_usage;
        if shows_usage && !session.display.quiet && session.reader.edits() {
            print_status_dim(&ui::usage_line(outcome, &session.env.settings().prices()), session.paint);
        }
    }
    result
}
