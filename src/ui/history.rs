//! The conversation so far, and a warning if it is incomplete.

use super::{DisplayOptions, MessageView};
use crate::term::{Out, Paint, StatusLine, print_status};
use lepo_base::error::Result;
use lepo_store::conv::{Conv, ConvEnd, Forest};
use lepo_store::store::Store;
use lepo_turn::{StoppedAnswers, TurnStart};

/// Prints the conv that a turn continues.
pub fn show_past(
    shown: DisplayOptions,
    (out, paint): (&mut Out, Paint),
    store: &Store,
    forest: &Forest,
    begin: TurnStart,
) -> Result<()> {
    let Some(ix) = begin.id().and_then(|id| forest.find(id)) else { return Ok(()) };
    let conv = forest.conv(ix);
    warn_incomplete(&conv);
    let view = MessageView::new(store, forest, out, paint, (shown.plain, shown.math));
    let path = conv.path.into_iter().map(|ix| forest.name(ix));
    let stopped = StoppedAnswers::new(store, forest);
    let names: Vec<_> = path.filter(|name| shown.all || stopped.is_shown(name)).collect();
    view.print_all(&names, out)?;
    out.flush();
    Ok(())
}

/// Warns before a question that its conversation is incomplete: the model gets the rest.
pub fn warn_incomplete_start(forest: &Forest, start: TurnStart) {
    if let Some(ix) = start.id().and_then(|id| forest.find(id)) {
        warn_incomplete(&forest.conv(ix));
    }
}

pub fn warn_incomplete(conv: &Conv) {
    match conv.end {
        ConvEnd::Root => {}
        ConvEnd::Missing(id) => {
            print_status(&StatusLine::warning(format!("message {id} not found: incomplete conversation")))
        }
        ConvEnd::Cycle(id) => print_status(&StatusLine::warning(format!(
            "message {id} leads back into its own conversation: incomplete conversation"
        ))),
    }
}
