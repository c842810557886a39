//! Chooses the model names of a group turn: from options, the configuration, or the continued debate.

use super::DoArgs;
use super::setup::read_tail;
use crate::commands::Context;
use lepo_base::error::Result;
use lepo_turn::config::Settings;
use lepo_turn::{Configuration, GroupMode, debate_models};

/// Source of names in messages.
const DEBATE: &str = "the debate that is continued";

/// Source of the names, for errors; `None` for options.
pub struct ModelSources {
    participants: Option<&'static str>,
    orchestrator: Option<&'static str>,
}

impl ModelSources {
    /// Uses the models of the continued debate if neither options nor configuration name any.
    pub fn choose(
        args: &DoArgs,
        mode: GroupMode,
        configured: &mut Configuration,
        context: &Context<'_>,
    ) -> Result<ModelSources> {
        let settings = &mut configured.settings;
        let by_option = !args.group.participants.is_empty() || !args.model.is_empty();
        let mut sources = ModelSources {
            participants: (!by_option).then_some("many.participants of the configuration"),
            orchestrator: args
                .group
                .orchestrator
                .is_none()
                .then_some("many.orchestrator of the configuration"),
        };
        let names_all = !settings.many_participants.is_empty() && settings.many_orchestrator.is_some();
        let (GroupMode::Debate, Some(_), false, Some(store)) =
            (mode, &args.tail, names_all, context.find_store()?)
        else {
            return Ok(sources);
        };
        let (forest, Some(tail)) = read_tail(args, &store, false)? else { return Ok(sources) };
        let models = debate_models(&store, &forest, tail.ix)?;
        if settings.many_participants.is_empty() {
            settings.many_participants = models.participants;
            sources.participants = Some(DEBATE);
        }
        if settings.many_orchestrator.is_none() {
            settings.many_orchestrator = models.orchestrator;
            sources.orchestrator = Some(DEBATE);
        }
        Ok(sources)
    }

    /// Rejects a name that no model has, with its source.
    pub fn check_names(&self, mode: GroupMode, settings: &Settings) -> Result<()> {
        let participants = settings.many_participants.iter().map(|name| (name, self.participants));
        let orchestrator = settings.many_orchestrator.iter().filter(|_| mode == GroupMode::Debate);
        let orchestrator = orchestrator.map(|name| (name, self.orchestrator));
        for (name, source) in participants.chain(orchestrator) {
            settings.model(name).map_err(|mut error| {
                if let Some(source) = source {
                    error.message += &format!(", which {source} names");
                }
                error
            })?;
        }
        Ok(())
    }
}
