//! Work between two turns of a session: stores a question that cannot be answered yet, and runs the user's
//! own commands.

use super::attach::store_files;
use super::opening::{prompt_message, question_message};
use super::turn_path::TurnPath;
use super::{CommandOrigin, CommandRunner, Question, TurnEnv, TurnEvent, TurnStart, View, record_used};
use lepo_base::error::Result;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::Forest;

/// Stores a question that cannot be answered yet as an ordinary bubb, to be answered again.
pub fn store_unanswered(
    env: &TurnEnv,
    forest: &Forest,
    start: TurnStart,
    question: Question,
) -> Result<BubbName> {
    let typed_ranges = question.typed_ranges.clone();
    let text = store_files(&env.store, question)?;
    let question = question_message(&env.masking, text, &typed_ranges);
    let system_prompt = env.system_prompt().unwrap_or_default();
    let mut path = open_path(env, forest, start, system_prompt)?;
    // Nothing is sent, so there is nothing to say about masks.
    path.sends_unmasked = true;
    let (name, _) = path.add_new(&question)?;
    env.store.journal().note_unanswered(name.id);
    record_used(&env.configured.paths, &env.store, &[name.id]);
    Ok(name)
}

/// Runs a command of the user's own, displays its output, and stores it for the next answer as a visible
/// bubb. Needs no consent, and uses no sandbox.
pub async fn run_own(
    env: &TurnEnv,
    forest: &Forest,
    start: TurnStart,
    command: &str,
    view: &mut dyn View,
) -> Result<BubbId> {
    let system_prompt = env.system_prompt()?;
    let runner = CommandRunner::new(env);
    // If interrupted, write nothing: a new conv starts only with the command's result.
    let carried =
        runner.carry_out_own(command, CommandOrigin::Session, &mut |event| view.on_event(event)).await?;
    let mut path = open_path(env, forest, start, system_prompt)?;
    let used = runner.store_own(&mut path, command, &carried, &mut |event| view.on_event(event))?;
    env.masking.note_unmasked(used.bubb, &String::from_utf8_lossy(&carried.text));
    if let Some(notice) = env.masking.secrets_notice() {
        view.on_event(TurnEvent::Notice(&notice));
    }
    record_used(&env.configured.paths, &env.store, &[used.bubb]);
    Ok(used.bubb)
}

fn open_path(env: &TurnEnv, forest: &Forest, start: TurnStart, prompt: Option<String>) -> Result<TurnPath> {
    let mut path = TurnPath::at(&env.store, forest, start, &env.masking)?;
    if start == TurnStart::New
        && let Some(prompt) = prompt
    {
        path.add_new(&prompt_message(&env.masking, prompt))?;
    }
    Ok(path)
}
