//! The names of the models of a group turn: from options, from the configuration, or from the debate that is continued.

use super::DoArgs;
use super::setup::find_tail;
use crate::commands::Context;
use lepo_base::error::Result;
use lepo_turn::config::Settings;
use lepo_turn::{Configured, GroupMode, debate_models};

/// Where a name in the messages of a debate comes from.
const DEBATE: &str = "the debate that is continued";

/// The origin of the names; `None` if an option gives them.
pub struct ModelSources {
    participants: Option<&'static str>,
    orchestrator: Option<&'static str>,
}

impl ModelSources {
    /// Sets the names of a debate that is continued, if neither options nor the configuration give any.
    pub fn choose(
        args: &DoArgs,
        mode: GroupMode,
        configured: &mut Configured,
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
        let forest = store.addresses().forest_at(false, args.tail.as_deref())?;
        let Some(tail) = find_tail(args, &store, &forest)? else { return Ok(sources) };
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

    /// Fails for a name that no model has, and says where it comes from.
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
