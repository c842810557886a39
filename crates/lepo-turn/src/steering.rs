//! The words of others that steer a turn: instructions of the repository, and messages of the conversation without a
//! proof. While there are any that nobody has agreed to, `auto` asks before it does more than reading.

use std::borrow::Cow;
use std::path::PathBuf;

use super::agents::{ToldFile, agree, unagreed};
use super::store_insts::untrusted_insts;
use super::turn::Turn;
use super::unproven::{UnprovenMessage, agree_to_messages, unproven_messages};
use crate::config::{RepoFile, Trust};
use lepo_base::error::Result;
use lepo_base::work_tree::WorkTree;
use lepo_tool::{Proposal, ToolMode, Unagreed};

/// Words of others that nobody has agreed to.
#[derive(Debug, Default)]
pub(crate) struct SteeringWords {
    files: Vec<ToldFile>,
    messages: Vec<UnprovenMessage>,
    /// Instructions of the store, which are ignored so far.
    insts: Option<RepoFile>,
}

/// The words of others in this conversation that are to be agreed to with this request.
pub(crate) fn steering_words(turn: &mut Turn<'_>, proposal: &Proposal) -> Result<SteeringWords> {
    if turn.env.settings().tool_call_mode != ToolMode::Auto || !proposal.is_more_than_reading() {
        return Ok(SteeringWords::default());
    }
    in_conversation(turn)
}

/// All words of others that a question before this turn is about: of the conversation where `auto` is to act in it, and
/// the instructions of the store.
pub(crate) fn words_of_turn(turn: &mut Turn<'_>) -> Result<SteeringWords> {
    let insts = untrusted_insts(&turn.env.store, &turn.env.configured.paths)?;
    let is_auto = turn.env.settings().tool_call_mode == ToolMode::Auto;
    let words = if is_auto { in_conversation(turn)? } else { SteeringWords::default() };
    Ok(SteeringWords { insts, ..words })
}

/// Keeps a yes to words of others; what was ignored so far counts from now on.
pub(crate) fn agree_to_words(turn: &mut Turn<'_>, words: &SteeringWords) -> Result<()> {
    words.agree(&turn.trust())?;
    turn.unproven = None;
    if words.insts.is_some() {
        turn.insts = Cow::Owned(turn.env.insts()?.0);
    }
    Ok(())
}

fn in_conversation(turn: &mut Turn<'_>) -> Result<SteeringWords> {
    let (trust, root) = (turn.trust(), root(turn));
    let files = unagreed(&turn.record.transcript.entries, &root, (&trust, &turn.env.masking))?;
    // What the turn itself wrote is this user's.
    let messages = match turn.unproven.take() {
        Some(known) => known,
        None => unproven_messages(&turn.env.store, &trust, &turn.record.transcript.loaded)?,
    };
    turn.unproven = Some(messages.clone());
    Ok(SteeringWords { files, messages, insts: None })
}

/// Whether nothing steers the conversation that the user has not written or agreed to.
pub(crate) fn steers_alone(turn: &Turn<'_>) -> Result<bool> {
    let (trust, root) = (turn.trust(), root(turn));
    let files = unagreed(&turn.record.transcript.entries, &root, (&trust, &turn.env.masking))?;
    Ok(files.is_empty()
        && unproven_messages(&turn.env.store, &trust, &turn.record.transcript.loaded)?.is_empty())
}

/// The root of the repository, whose instructions go along.
fn root(turn: &Turn<'_>) -> PathBuf {
    let here = turn.env.configured.start_dir().unwrap_or(turn.env.store.root());
    WorkTree::of(here).map_or_else(|| turn.env.store.root().to_path_buf(), |tree| tree.root)
}

impl SteeringWords {
    /// Their names, for the question.
    pub fn names(&self) -> Vec<Unagreed> {
        let files = self.files.iter().map(|file| Unagreed::File(file.path.clone()));
        let messages = self
            .messages
            .iter()
            .map(|message| Unagreed::Message(message.name.id.to_string(), message.name.tag()));
        let insts = self.insts.iter().map(|file| Unagreed::Insts(file.path.to_string_lossy().into_owned()));
        files.chain(messages).chain(insts).collect()
    }

    /// Keeps a yes to them.
    fn agree(&self, trust: &Trust) -> Result<()> {
        agree(&self.files, trust)?;
        agree_to_messages(&self.messages, trust)?;
        trust.keep(self.insts.as_slice())
    }
}
