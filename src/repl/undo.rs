//! Leaving a conversation, and the way back: `/new`, `/system TEXT` and `/undo`.

use super::session::{ReplSession, SessionSnapshot, UndoStep};
use crate::term::print_status;
use crate::ui::ShortIds;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbId;
use lepo_turn::Position;

/// Leaves the conversation for a new one, with another system prompt if one is given.
pub(super) fn leave(session: &mut ReplSession<'_>, system_prompt: Option<&str>) {
    let snapshot = SessionSnapshot {
        position: std::mem::take(&mut session.conversation.position),
        system_prompt: system_prompt.map(|text| session.env.use_system_prompt(Some(text.to_string()))),
    };
    session.undo_steps.push(UndoStep::Left(snapshot));
}

/// Returns the ends of the session's conversations, the current one first.
pub(super) fn tails(session: &ReplSession<'_>) -> Vec<BubbId> {
    let left = session.undo_steps.iter().rev().filter_map(|past| match past {
        UndoStep::Left(snapshot) => snapshot.position.tip,
        UndoStep::Asked(..) => None,
    });
    session.tip().into_iter().chain(left).collect()
}

/// Returns to the state before the last question, or before the command that left the conversation. Deletes
/// nothing.
pub(super) fn undo(session: &mut ReplSession<'_>) -> Result<()> {
    let step = match session.undo_steps.pop() {
        Some(step) => step,
        None => {
            let forest = session.forest()?;
            let question =
                session.tip().and_then(|id| forest.find(id)).and_then(|ix| forest.last_question(ix));
            let question = question.ok_or_else(|| Error::nothing("no question to undo"))?;
            let question = forest.name(question);
            UndoStep::Asked(question.prev, session.store.text(&question)?)
        }
    };
    match step {
        UndoStep::Asked(before, question) => {
            session.reader.prefill(question);
            // The branch stays at the last answer, and the session leaves it.
            session.conversation.position = Position::at(before);
        }
        UndoStep::Left(SessionSnapshot { position, system_prompt }) => {
            session.conversation.position = position;
            if let Some(text) = system_prompt {
                session.env.use_system_prompt(text);
            }
        }
    }
    let Some(id) = session.tip() else {
        print_status("undone; nothing was deleted");
        return Ok(());
    };
    let forest = session.forest()?;
    let short = ShortIds::new(forest.all().map(|ix| forest.name(ix).id)).show(id);
    print_status(&format!("back to {short}; nothing was deleted"));
    Ok(())
}
