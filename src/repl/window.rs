//! The model's window in a session: warns if a conversation fills most of it, and replaces the start of the conversation
//! by a summary.

use super::session::ReplSession;
use crate::term::{StatusLine, print_status};
use crate::ui::{self, TurnView, ViewEvent, ViewState};
use lepo_base::error::Result;
use lepo_store::bubb::BubbId;
use lepo_store::conv::Forest;
use lepo_turn::{Compaction, Conversation, NextTurn, TurnEnv, compact, fill_in_time};

/// Summarises the conversation and returns the bubb to continue from.
pub(super) async fn compact_conversation(
    session: &mut ReplSession<'_>,
    forest: &Forest,
    compaction: Compaction<'_>,
) -> Result<BubbId> {
    let model = session.model().await?;
    let insts = ui::insts_with_warnings(session.env.insts()?);
    let state = ViewState::Idle.after(ViewEvent::Entered);
    let compacting = async |env: &TurnEnv, conversation: &mut Conversation, view: &mut TurnView<'_>| {
        let end = compact(env, &model, &insts, forest, compaction, view).await?;
        conversation.position.move_to_summary(end);
        Ok(end)
    };
    session.with_view(state, compacting).await
}

/// Compacts the conversation if a question of `bytes` would not fit.
pub(super) async fn make_room(
    session: &mut ReplSession<'_>,
    next: &mut NextTurn,
    bytes: usize,
) -> Result<()> {
    if next.tail_to_summarise(session.env).is_none() {
        return Ok(());
    }
    let model = session.model().await?;
    let state = ViewState::Idle.after(ViewEvent::Entered);
    let making = async |env: &TurnEnv, conversation: &mut Conversation, view: &mut TurnView<'_>| {
        conversation.make_room(env, &model, next, bytes, view).await
    };
    session.with_view(state, making).await
}

/// Reports once that the conversation fills most of the model's window.
pub(super) async fn warn_if_full(session: &mut ReplSession<'_>) -> Result<()> {
    let (Some(model), Some(at), false) = (&session.model, session.tip(), session.has_warned_full) else {
        return Ok(());
    };
    let forest = session.forest()?;
    if let Some(fill) = fill_in_time(session.env, model, &forest, at, 0).await
        && fill.percent() >= 80
    {
        session.has_warned_full = true;
        print_status(&StatusLine::note(format!(
            "the conversation fills {} % of the model's window; /compact continues from a summary",
            fill.percent()
        )));
    }
    Ok(())
}
