//! The options of `--parallel` and `--debate`, and the settings they change.

use crate::commands::complete;
use crate::config::Flags;
use crate::error::{Error, Result, quoted};
use crate::turn::GroupMode;

/// `--parallel`, `--debate`, and the models that take part.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct GroupArgs {
    /// Ask all participants at once, in a new conversation or from --tail; each answer is a branch of its own
    ///
    /// In a pipe and in an --output file each answer stands under `## NAME`; a line of an answer that begins
    /// like such a heading has a space before it there, and nowhere else.
    #[arg(long, group = "mode", conflicts_with_all = ["approve", "deny"])]
    parallel: bool,
    /// Let the participants debate, led by the orchestrator, in a new conversation; --tail goes on with one
    #[arg(short, long, group = "mode", conflicts_with_all = ["approve", "deny", "model"])]
    debate: bool,
    /// The model that leads the debate
    #[arg(long, value_name = "NAME", add = complete::model(), requires = "debate", conflicts_with = "parallel")]
    orchestrator: Option<String>,
    /// The models that take part, instead of the configured ones
    #[arg(long, value_name = "A,B", add = complete::model(), value_delimiter = ',', requires = "mode", conflicts_with = "model")]
    participants: Vec<String>,
}

impl GroupArgs {
    /// The way several models are asked; none if one is.
    pub fn mode(&self) -> Option<GroupMode> {
        match (self.parallel, self.debate) {
            (true, _) => Some(GroupMode::Parallel),
            (_, true) => Some(GroupMode::Debate),
            (false, false) => None,
        }
    }

    /// The options that name the models which take part, as they are typed again; empty where the configuration
    /// names them.
    pub fn participants_again(&self, models: &[String]) -> String {
        match self.participants.is_empty() {
            true => models.iter().map(|name| format!(" -m {}", quoted(name))).collect(),
            false => format!(" --participants {}", quoted(&self.participants.join(","))),
        }
    }

    /// `flags` with these options, and `-m`: one model that answers, or several that take part.
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
