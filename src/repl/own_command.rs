//! `!COMMAND`: runs the user's own command.

use super::session::{ReplSession, SIGINT, report_error};
use crate::term::print_status;
use crate::ui::{TurnView, ViewEvent, ViewState};
use lepo_base::error::{ExitKind, Result};
use lepo_turn::{TurnEnv, run_own};

/// Runs the user's own command; the next question follows its output.
pub(super) async fn run_own_command(
    session: &mut ReplSession<'_>,
    state: ViewState,
    command: &str,
) -> Result<ViewState> {
    let state = state.after(ViewEvent::Entered);
    let forest = session.forest()?;
    let start = session.start(&forest, false)?;
    let running =
        async |env: &TurnEnv, view: &mut TurnView<'_>| run_own(env, &forest, start, command, view).await;
    match session.with_view(state, running).await {
        Ok(bubb) => {
            session.at = Some(bubb);
            Ok(state.after(ViewEvent::Done))
        }
        Err(error) if error.kind == ExitKind::Signal(SIGINT) => {
            print_status("stopped; nothing was kept");
            Ok(state.after(ViewEvent::Failed).after(ViewEvent::Told))
        }
        Err(error) => report_error(state, &error),
    }
}
