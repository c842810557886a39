//! Options of `--parallel` and `--debate`, and the settings that they override.

use crate::commands::complete;
use lepo_base::error::{Error, Result};
use lepo_turn::GroupMode;
use lepo_turn::config::Flags;

/// Heading of these options in the help.
const SEVERAL: &str = "Several models";

/// `--parallel`, `--debate`, and the models that take part.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct GroupArgs {
    /// Ask all participants at once, in a new conversation or from --tail; each answer is a fork of its own
    ///
    /// In a pipe and in an --output file, each answer has the heading `## NAME`. Only there, a line of an answer that
    /// begins like such a heading gets a space in front.
    #[arg(long, group = "mode", help_heading = SEVERAL)]
    parallel: bool,
    /// Let the participants debate, led by the orchestrator, in a new conversation; --tail continues one
    #[arg(short, long, group = "mode", help_heading = SEVERAL)]
    debate: bool,
    /// With --parallel: let this model judge the answers, without seeing names, in an answer of its own
    #[arg(long, value_name = "NAME", add = complete::model(), requires = "parallel", help_heading = SEVERAL)]
    pub judge: Option<String>,
    /// The model that leads the debate
    #[arg(long, value_name = "NAME", add = complete::model(), requires = "debate", help_heading = SEVERAL)]
    pub(super) orchestrator: Option<String>,
    /// The models that take part, overriding the configured ones
    #[arg(long, value_name = "A,B", add = complete::model(), value_delimiter = ',', requires = "mode", help_heading = SEVERAL)]
    pub(super) participants: Vec<String>,
}

impl GroupArgs {
    /// Returns how several models are asked; `None` for a single model.
    pub fn mode(&self) -> Option<GroupMode> {
        match (self.parallel, self.debate) {
            (true, _) => Some(GroupMode::Parallel),
            (_, true) => Some(GroupMode::Debate),
            (false, false) => None,
        }
    }

    pub fn with_same_models(&self, error: Error, models: &[String]) -> Error {
        let participants = Some(self.participants.join(",")).filter(|names| !names.is_empty());
        let options: Vec<(&'static str, String)> = (models.iter().map(|name| ("-m", name.clone())))
            .chain(participants.map(|names| ("--participants", names)))
            .chain(self.orchestrator.clone().map(|name| ("--orchestrator", name)))
            .chain(self.judge.clone().map(|name| ("--judge", name)))
            .collect();
        error.resuming(|resume| resume.name_models(&options))
    }

    /// Adds these options and `-m` to `flags`: a single model, or the participants.
    pub fn flags(&self, models: &[String], flags: Flags) -> Result<Flags> {
        let some = |names: &[String]| Some(names.to_vec()).filter(|names| !names.is_empty());
        let participants: Vec<String> =
            self.participants.iter().map(|name| name.trim().to_string()).collect();
        if participants.iter().any(String::is_empty) {
            return Err(Error::usage("--participants has an empty name").hint("--participants A,B"));
        }
        match (self.mode(), models) {
            (None, [] | [_]) => Ok(Flags { model: models.first().cloned(), ..flags }),
            (None, _) => Err(Error::usage("--model is given more than once")
                .hint("one model answers; to ask several at once, add --parallel")),
            (Some(_), _) => Ok(Flags {
                orchestrator: self.orchestrator.clone(),
                participants: some(&participants).or(some(models)),
                ..flags
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::hint::{HintTarget, ResumeAction};

    #[test]
    fn a_hint_names_the_models_that_were_asked() {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let group_args = |parallel, debate, participants: &[&str], orchestrator: Option<&str>| GroupArgs {
            parallel,
            debate,
            participants: names(participants),
            orchestrator: orchestrator.map(str::to_string),
            judge: None,
        };
        for (args, models, act, expected) in [
            (group_args(false, false, &[], None), &["a"][..], ResumeAction::Retry, "`lepo do -m a --retry`"),
            (
                group_args(true, false, &[], None),
                &["a", "b c"],
                ResumeAction::RetryAll,
                "`lepo do -m a -m 'b c' --parallel --retry`",
            ),
            (
                group_args(false, true, &["a", "b"], Some("c")),
                &[],
                ResumeAction::Debate("T".into()),
                "`lepo do --participants 'a,b' --orchestrator c --debate --tail T`",
            ),
        ] {
            let error = args.with_same_models(Error::remote("no").hint(act), &names(models));
            assert_eq!(error.hint_for(HintTarget::SHELL).as_deref(), Some(expected));
        }
    }
}
