//! Who takes part: names from the options and the configuration, each the line to a model.

use super::Mode;
use crate::commands::r#do::session::installed;
use crate::config::{ModelConfig, Paths, Settings};
use crate::error::{Error, Result};
use crate::model::{Gate, Model, Timeouts};
use crate::turn::Participant;

/// Those who are asked.
pub struct Panel {
    /// In the order they were named.
    pub participants: Vec<Participant>,
    /// Who leads a debate.
    pub orchestrator: Option<Participant>,
}

impl Panel {
    /// The panel of a mode. Nobody, an unknown name, or one that is there twice: exit 2.
    pub fn of(mode: Mode, settings: &Settings, paths: &Paths) -> Result<Panel> {
        let names = &settings.many.participants;
        if names.is_empty() {
            return Err(Error::usage("nobody to ask: no participants are configured").hint(format!(
                "name them with --participants A,B, or as `participants` in [many] of {}",
                settings.file.display()
            )));
        }
        let twice =
            names.iter().enumerate().find(|(i, name)| names.iter().take(*i).any(|other| other == *name));
        if let Some((_, name)) = twice {
            return Err(Error::usage(format!("participant \"{name}\" is named twice"))
                .hint("answers are told apart by the names of those who gave them"));
        }
        let voice = |name: &String| settings.model(name).map(|config| voice(&config, settings, paths));
        let orchestrator = match (mode, &settings.many.orchestrator) {
            (Mode::Parallel, _) => None,
            (Mode::Debate, Some(name)) => Some(voice(name)?),
            (Mode::Debate, None) => {
                return Err(Error::usage("nobody leads the debate: no orchestrator is configured").hint(
                    format!(
                        "name one with --orchestrator NAME, or as `orchestrator` in [many] of {}",
                        settings.file.display()
                    ),
                ));
            }
        };
        Ok(Panel { participants: names.iter().map(voice).collect::<Result<_>>()?, orchestrator })
    }
}

/// The line to one model. One that cannot be asked says so when it is its turn.
fn voice(config: &ModelConfig, settings: &Settings, paths: &Paths) -> Participant {
    let gate = Gate::new();
    // What is asked is on disk by then.
    gate.open();
    // The one limit of a reply: a program is silent until it has all of it.
    let timeouts = Timeouts { connect: settings.http_connect, idle: settings.many.timeout };
    let ready = config.require_key();
    let model = ready.and_then(|()| Model::new(config, timeouts, &paths.state, gate, installed(paths)));
    Participant::new(config, model)
}
