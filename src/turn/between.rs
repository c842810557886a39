//! What a person does between two turns of a REPL: asks what nobody can answer yet, runs a command.

use std::sync::Arc;

use super::command_runner::CommandRunner;
use super::transcript::Transcript;
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
    runner: CommandRunner<'_>,
    store: &Arc<Store>,
    forest: &Forest,
    start: Start,
    system_prompt: Option<String>,
    command: &str,
    front: &mut dyn Front,
) -> Result<BubbId> {
    // Stopped, it leaves nothing: a new conv begins with what came of it.
    let carried = runner.carry_out_own(command, &mut |event| front.happens(event)).await?;
    match carried.exit {
        Some(0) => {}
        Some(code) => front.happens(Event::Say(&format!("exit code: {code}"))),
        None => front.happens(Event::Say("it did not come to an end of its own")),
    }
    let mut transcript = begin(store, forest, start, system_prompt)?;
    Ok(runner.keep_own(&mut transcript, command, &carried, &mut |event| front.happens(event))?.bubb)
}

fn begin(store: &Arc<Store>, forest: &Forest, start: Start, prompt: Option<String>) -> Result<Transcript> {
    let mut transcript = Transcript::at(store, forest, start)?;
    if start == Start::New
        && let Some(prompt) = prompt
    {
        transcript.add(Kind::System, true, prompt.as_bytes())?;
    }
    Ok(transcript)
}
