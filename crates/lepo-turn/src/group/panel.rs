//! The participants of a group turn: names from the options and the configuration, each with its client.

use super::debate::debate;
use super::judge::judge;
use super::parallel::parallel;
use super::{DebateOutcome, GroupTurn, ParallelOutcome, Participant};
use crate::attach::{NewFile, check};
use crate::folder_questions::questions_of_models;
use crate::recorded::RecordedAnswer;
use crate::steering::texts_of_group;
use crate::turn_path::TurnPath;
use crate::unmask::forget_overtaken;
use crate::{Configuration, ProgramRole, StartQuestion, TurnEnv, TurnRequest, TurnStart};
use lepo_base::error::{Error, Result};
use lepo_model::{Gate, Model, ModelConfig};
use lepo_store::conv::Forest;

/// How to ask several models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupMode {
    /// All at once, independently.
    Parallel,
    /// In turn, each hearing all.
    Debate,
}

/// The models of a group turn.
pub struct Panel {
    /// In the order they were named.
    pub participants: Vec<Participant>,
    /// The model that leads a debate.
    pub orchestrator: Option<Participant>,
    /// The model that judges the answers of `--parallel`.
    pub judge: Option<Participant>,
}

/// The displayed names of a panel.
#[derive(Debug, Clone)]
pub struct PanelNames {
    /// The participants, and then the judge.
    pub speakers: Vec<String>,
    /// The model that leads a debate.
    pub orchestrator: Option<String>,
}

impl PanelNames {
    /// Returns the names of a panel of these models.
    pub fn new(participants: &[String], judge: Option<&str>, orchestrator: Option<&str>) -> PanelNames {
        let speakers = numbered(participants).into_iter().chain(judge.map(judge_name)).collect();
        PanelNames { speakers, orchestrator: orchestrator.map(str::to_string) }
    }
}

/// The outcome of a group turn.
pub enum GroupOutcome {
    /// The outcome of `--parallel`.
    Polled(ParallelOutcome),
    /// The outcome of `--debate`.
    Debated(DebateOutcome),
}

impl Panel {
    /// Creates the panel of a mode. Exit 2 without participants, or for an unknown or repeated name.
    pub fn new(mode: GroupMode, configured: &Configuration) -> Result<Panel> {
        let settings = &configured.settings;
        let names = &settings.many_participants;
        if names.is_empty() {
            return Err(Error::usage("no participants are configured").hint(format!(
                "name them with --participants A,B, or as `participants` in [many] of {}",
                settings.file.display()
            )));
        }
        let twice =
            names.iter().enumerate().find(|(i, name)| names.iter().take(*i).any(|other| other == *name));
        if let Some((_, name)) = twice.filter(|_| mode == GroupMode::Debate) {
            return Err(Error::usage(format!("participant \"{name}\" is named twice"))
                .hint("each participant needs a name of its own"));
        }
        let participant = |name: &String| settings.model(name).map(|config| participant(&config, configured));
        let orchestrator = match (mode, &settings.many_orchestrator) {
            (GroupMode::Parallel, _) => None,
            (GroupMode::Debate, Some(name)) => Some(participant(name)?),
            (GroupMode::Debate, None) => {
                return Err(Error::usage("no orchestrator is configured to lead the debate").hint(format!(
                    "name one with --orchestrator NAME, or as `orchestrator` in [many] of {}",
                    settings.file.display()
                )));
            }
        };
        let mut participants = names.iter().map(participant).collect::<Result<Vec<_>>>()?;
        participants.iter_mut().zip(numbered(names)).for_each(|(one, shown)| one.display_name = shown);
        Ok(Panel { participants, orchestrator, judge: None })
    }

    /// Returns the displayed names.
    pub fn names(&self) -> PanelNames {
        PanelNames {
            speakers: self
                .participants
                .iter()
                .chain(&self.judge)
                .map(|one| one.display_name.clone())
                .collect(),
            orchestrator: self.orchestrator.as_ref().map(|one| one.name.clone()),
        }
    }

    /// Returns the models that can be asked.
    fn models(&mut self) -> impl Iterator<Item = &mut Model> {
        let all = self.participants.iter_mut().chain(&mut self.orchestrator);
        all.filter_map(|one| one.model.as_mut().ok())
    }

    /// Returns the question before programs of these models start, with the texts of others that it is about.
    /// The user is asked before the turn, as the models answer concurrently.
    pub fn start_question(
        &self,
        env: &TurnEnv,
        (forest, start): (&Forest, TurnStart),
    ) -> Result<StartQuestion> {
        let (configured, root) = (&env.configured, env.store.root());
        let mut question = questions_of_models(configured, self.unrecorded().map(|one| &one.config), root)?;
        if !question.is_empty() {
            let path = TurnPath::at(&env.store, forest, start, &env.masking)?;
            question.steering = texts_of_group(env, &path)?;
        }
        Ok(question)
    }

    /// Creates the clients of models whose key is printed by a program of this question, after the user
    /// agreed to it.
    pub fn take_agreement(&mut self, question: &StartQuestion, configured: &Configuration) {
        let all = self.participants.iter_mut().chain(&mut self.orchestrator).chain(&mut self.judge);
        for one in all.filter(|one| one.model.is_err()) {
            let prints_key = |role: &ProgramRole| matches!(role, ProgramRole::Key(name) if *name == one.name);
            if question.changed.iter().any(|changed| prints_key(&changed.role)) {
                one.model = client(&one.config, configured);
            }
        }
    }

    /// Returns the participants without a recorded answer.
    fn unrecorded(&self) -> impl Iterator<Item = &Participant> {
        let all = self.participants.iter().chain(&self.orchestrator).chain(&self.judge);
        all.filter(|one| one.recorded.is_none())
    }

    /// Adds a judge of the answers, of this configured name.
    pub fn with_judge(mut self, name: Option<&str>, configured: &Configuration) -> Result<Panel> {
        let config = name.map(|name| configured.settings.model(name)).transpose()?;
        self.judge = config.map(|config| as_judge(participant(&config, configured)));
        Ok(self)
    }

    /// Sets recorded answers: their models are not asked.
    pub fn use_recorded(&mut self, hits: Vec<(String, RecordedAnswer)>) {
        for (name, hit) in hits {
            let of_name = self.participants.iter_mut().filter(|one| one.name == name);
            of_name.for_each(|one| one.recorded = Some(hit.clone()));
        }
    }

    /// Checks the files of a question: each participant must accept them; a debate accepts no files.
    pub fn check_files(&self, files: &[NewFile]) -> Result<()> {
        if self.orchestrator.is_some() && !files.is_empty() {
            return Err(Error::usage("a debate does not accept files: its participants get text only")
                .hint("--parallel asks several models about a file"));
        }
        self.participants.iter().try_for_each(|one| check(files, &one.accepts, &one.name))
    }
}

/// Returns the displayed names of participants: repeated models are numbered.
fn numbered(names: &[String]) -> Vec<String> {
    let shown = |(index, name): (usize, &String)| {
        let before = names.iter().take(index).filter(|other| *other == name).count();
        if before > 0 { format!("{name} ({})", before + 1) } else { name.clone() }
    };
    names.iter().enumerate().map(shown).collect()
}

/// Returns the displayed name of a judge.
pub fn judge_name(name: &str) -> String {
    format!("judge ({name})")
}

/// Makes a participant the judge of the others.
fn as_judge(mut judge: Participant) -> Participant {
    judge.display_name = judge_name(&judge.name);
    judge
}

/// Creates a participant with its client. If it cannot be asked, the error is returned when it is asked.
fn participant(config: &ModelConfig, configured: &Configuration) -> Participant {
    Participant::new(config, configured.accepts(config), client(config, configured))
}

fn client(config: &ModelConfig, configured: &Configuration) -> Result<Model> {
    let gate = Gate::new();
    // The question is on disk by then.
    gate.open();
    // The only limit of a reply: a program is silent until its reply is complete.
    let idle = configured.settings.many_timeout;
    config.require_key().and_then(|()| configured.model(config, idle, gate))
}

/// Asks the panel: in a debate if there is an orchestrator, otherwise all at once.
///
/// # Errors
/// Returns the errors that occur before a model is asked.
pub async fn execute_group_turn(
    group: GroupTurn<'_>,
    panel: &mut Panel,
    mut ask: TurnRequest,
) -> Result<GroupOutcome> {
    if let Some(budget) = group.env.configured.budget() {
        budget.new_turn();
        for model in panel.models() {
            budget.check(model.config())?;
            model.set_meter(group.env.configured.meter());
        }
    }
    if ask.start == TurnStart::New {
        ask.system_prompt = group.env.system_prompt()?;
    }
    let taken = match &mut panel.orchestrator {
        None => {
            let polled = parallel(group, &mut panel.participants, ask).await?;
            Ok(GroupOutcome::Polled(match &mut panel.judge {
                Some(one) if polled.error.is_none() => judge(group, one, polled).await?,
                _ => polled,
            }))
        }
        Some(orchestrator) => {
            debate(group, &mut panel.participants, orchestrator, ask).await.map(GroupOutcome::Debated)
        }
    };
    forget_overtaken(&group.env.store);
    if let Some(notice) = group.env.masking.secrets_notice() {
        group.emit(crate::TurnEvent::Notice(&notice));
    }
    taken
}

impl GroupOutcome {
    /// Returns the error, if the group turn has no answer.
    pub fn into_error(self) -> Option<Error> {
        match self {
            GroupOutcome::Polled(polled) => polled.error,
            GroupOutcome::Debated(debated) => debated.outcome.error,
        }
    }
}
