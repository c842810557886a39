//! Creates a turn for a question, a summary or a dry run.

use std::borrow::Cow;

use super::received_calls::restore_earlier_calls;
use super::transcript::Transcript;
use super::turn::{Turn, TurnSkills};
use super::turn_request::TurnRequest;
use super::turn_state::TurnRecord;
use super::{Front, TurnEnv};
use crate::config::Insts;
use lepo_model::{Gate, Model, ModelConfig};
use lepo_store::conv::Forest;
use lepo_tool::mcp::Servers;

/// The resources of a turn.
pub struct TurnResources<'t> {
    /// The client of the model that answers.
    pub model: &'t mut Model,
    /// The gate of its requests.
    pub gate: Gate,
    pub servers: &'t mut Servers,
    pub front: &'t mut dyn Front,
}

/// Creates the turn of this input, after the bubbs of `transcript`. Removes recorded results from the input.
pub fn new_turn<'t>(
    env: &'t TurnEnv,
    (config, insts): (&'t ModelConfig, &'t Insts),
    parties: TurnResources<'t>,
    mut transcript: Transcript,
    forest: &Forest,
    ask: &mut TurnRequest,
) -> Turn<'t> {
    let TurnResources { model, gate, servers, front } = parties;
    restore_earlier_calls(&mut transcript, &env.store, config);
    Turn {
        env,
        insts: Cow::Borrowed(insts),
        config,
        model,
        gate,
        servers,
        front,
        schema: ask.schema.clone(),
        code_only: ask.code_only,
        results: ask.results.take(),
        forks: transcript.forks(forest),
        record: TurnRecord::new(transcript, &config.name, forest, ask.start),
        skills: TurnSkills::default(),
        unproven: None,
    }
}
