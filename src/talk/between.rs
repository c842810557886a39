//! What a person does between two turns of a REPL: asks what nobody can answer yet, runs a command.

use std::sync::Arc;

use super::command::Hands;
use super::line::Line;
use super::{Event, Front, Start};
use crate::bubb::{BubbId, Kind, Name};
use crate::conv::Forest;
use crate::error::Result;
use crate::store::Store;

/// Keeps a question that nobody can answer yet: a bubb like any other, to be answered again.
/// `system_prompt` is that of a new conv.
pub fn keep(
    store: &Arc<Store>,
    forest: &Forest,
    start: Start,
    system_prompt: Option<String>,
    question: &str,
) -> Result<Name> {
    begin(store, forest, start, system_prompt)?.add(Kind::User, false, question.as_bytes())
}

/// Runs a command of the person's own, shown as it prints, and gives its output to whoever answers next:
/// a visible bubb. No consent, no sandbox.
pub async fn run(
    hands: Hands<'_>,
    store: &Arc<Store>,
    forest: &Forest,
    start: Start,
    system_prompt: Option<String>,
    command: &str,
    front: &mut dyn Front,
) -> Result<BubbId> {
    // Stopped, it leaves nothing: a new conv begins with what came of it.
    let carried = hands.carry_out_own(command, &mut |event| front.happens(event)).await?;
    match carried.exit {
        Some(0) => {}
        Some(code) => front.happens(Event::Say(&format!("exit code: {code}"))),
        None => front.happens(Event::Say("it did not come to an end of its own")),
    }
    let mut line = begin(store, forest, start, system_prompt)?;
    Ok(hands.keep_own(&mut line, command, &carried, &mut |event| front.happens(event))?.bubb)
}

fn begin(store: &Arc<Store>, forest: &Forest, start: Start, prompt: Option<String>) -> Result<Line> {
    let mut line = Line::at(store, forest, start)?;
    if start == Start::New
        && let Some(prompt) = prompt
    {
        line.add(Kind::System, true, prompt.as_bytes())?;
    }
    Ok(line)
}
