//! Texts of others that steer a turn: instructions of the repository, and messages of the conversation
//! without a proof. While any lacks the user's consent, `auto` asks before it does more than reading.

use std::borrow::Cow;
use std::path::PathBuf;

use super::env::TurnEnv;
use super::instructions::unagreed;
use super::steering_texts::SteeringTexts;
use super::store_insts::untrusted_insts;
use super::turn::Turn;
use super::turn_path::TurnPath;
use super::unproven::unproven_messages;
use crate::config::Trust;
use lepo_base::error::Result;
use lepo_base::worktree::Worktree;
use lepo_tool::{Proposal, ToolMode};

/// Returns the texts in this conversation that need consent together with this request.
pub(crate) fn steering_texts(turn: &mut Turn<'_>, proposal: &Proposal) -> Result<SteeringTexts> {
    if turn.env.settings().tool_call_mode != ToolMode::Auto || !proposal.is_more_than_reading() {
        return Ok(SteeringTexts::default());
    }
    let steering = in_conversation(turn)?;
    Ok(SteeringTexts { refused: turn.env.are_refused(&steering), ..steering })
}

/// Returns all texts that the question before this turn is about: those in the conversation if the mode is
/// `auto`, and the instructions of the store.
pub(crate) fn texts_of_turn(turn: &mut Turn<'_>) -> Result<SteeringTexts> {
    let steering = in_conversation(turn)?;
    texts_to_ask_about(turn.env, steering)
}

/// Returns all texts that the question before a group turn is about, which continues this conversation.
pub(crate) fn texts_of_group(env: &TurnEnv, path: &TurnPath) -> Result<SteeringTexts> {
    let trust = Trust::new(&env.configured.paths);
    let files = unagreed(&path.messages, &root(env), (&trust, &env.masking))?;
    let messages = unproven_messages(&env.store, &trust, &path.loaded)?;
    texts_to_ask_about(env, SteeringTexts { files, messages, ..SteeringTexts::default() })
}

fn texts_to_ask_about(env: &TurnEnv, steering: SteeringTexts) -> Result<SteeringTexts> {
    let acts = env.settings().tool_call_mode == ToolMode::Auto && !env.are_refused(&steering);
    let steering = if acts { steering } else { SteeringTexts::default() };
    Ok(SteeringTexts { insts: untrusted_insts(&env.store, &env.configured.paths)?, ..steering })
}

/// Records the user's consent to texts of others.
pub(crate) fn agree_to_texts(turn: &mut Turn<'_>, steering: &SteeringTexts) -> Result<()> {
    if !steering.refused {
        steering.record_consent(&turn.trust())?;
        apply_consent(turn, steering)?;
    }
    Ok(())
}

/// Continues the turn with the texts that the user agreed to; instructions ignored so far are active from now
/// on.
pub(crate) fn apply_consent(turn: &mut Turn<'_>, steering: &SteeringTexts) -> Result<()> {
    turn.unproven = None;
    if steering.insts.is_some() {
        turn.insts = Cow::Owned(turn.env.insts_without_warnings()?);
    }
    Ok(())
}

fn in_conversation(turn: &mut Turn<'_>) -> Result<SteeringTexts> {
    let (trust, root) = (turn.trust(), root(turn.env));
    let files = unagreed(&turn.path.messages, &root, (&trust, &turn.env.masking))?;
    // Bubbs that the turn itself wrote are this user's.
    let messages = match turn.unproven.take() {
        Some(known) => known,
        None => unproven_messages(&turn.env.store, &trust, &turn.path.loaded)?,
    };
    turn.unproven = Some(messages.clone());
    Ok(SteeringTexts { files, messages, ..SteeringTexts::default() })
}

/// Whether all texts that steer the conversation were written by the user or have the user's consent.
pub(crate) fn steers_alone(turn: &Turn<'_>) -> Result<bool> {
    let (trust, root) = (turn.trust(), root(turn.env));
    let files = unagreed(&turn.path.messages, &root, (&trust, &turn.env.masking))?;
    Ok(files.is_empty() && unproven_messages(&turn.env.store, &trust, &turn.path.loaded)?.is_empty())
}

/// Returns the root of the repository whose instructions are used.
fn root(env: &TurnEnv) -> PathBuf {
    let here = env.configured.start_dir().unwrap_or(env.store.root());
    Worktree::containing(here).map_or_else(|| env.store.root().to_path_buf(), |tree| tree.root)
}
