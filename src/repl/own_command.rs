//! `!COMMAND`: runs the user's own command.

use super::session::{SIGINT, Session, told};
use crate::term::say;
use crate::ui::{State, Step, TurnView};
use lepo_base::error::{ExitKind, Result};
use lepo_turn::{TurnEnv, run_own};

/// Runs the user's own command; the next question follows its output.
pub(super) async fn run_own_command(session: &mut Session<'_>, state: State, command: &str) -> Result<State> {
    let state = state.after(Step::Entered);
    let forest = session.forest()?;
    let start = session.start(&forest, false)?;
    let running =
        async |env: &TurnEnv, view: &mut TurnView<'_>| run_own(env, &forest, start, command, view).await;
    match session.with_view(state, running).await {
        Ok(bubb) => {
            session.at = Some(bubb);
            Ok(state.after(Step::Done))
        }
        Err(error) if error.kind == ExitKind::Signal(SIGINT) => {
            say("stopped; nothing was kept");
            Ok(state.after(Step::Failed).after(Step::Told))
        }
        Err(error) => told(state, &error),
    }
}
