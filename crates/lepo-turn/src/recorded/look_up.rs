//! The look-up of all requests of a turn or of a group turn, before anything is sent or written.

use super::debate::debate;
use super::facts::{options_json, schema_hash};
use super::find::{find, verdict};
use super::nearest::{miss_error, no_verdict};
use super::past_message::PastMessage;
use super::query::{OptionsRule, Query, RecordStore, ToolsRule};
use super::recorded_answer::RecordedAnswer;
use super::tool_hashes::ToolHashes;
use crate::Configuration;
use crate::group::{GroupOutcome, ParallelOutcome};
use crate::schema::AnswerSchema;
use lepo_base::error::{Error, Result};
use lepo_model::ModelConfig;
use lepo_tool::ToolMode;

/// The models that a question goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voices<'v> {
    /// The model of a turn.
    One {
        /// Whether MCP servers are configured: their tools are not known before they are started.
        has_servers: bool,
    },
    /// The configured participants, each of them.
    Parallel {
        /// The model that judges their answers.
        judge: Option<&'v str>,
    },
    /// The configured participants, led by the configured orchestrator.
    Debate,
}

/// A request to look up.
pub struct LookupRequest<'q> {
    /// The messages before the answer, the question last.
    pub history: &'q [PastMessage],
    /// The schema of the answers.
    pub schema: Option<&'q AnswerSchema>,
    /// Names, options and tools of the models.
    pub configured: &'q Configuration,
}

/// Recorded answers to all requests.
pub enum RecordedOutcome {
    /// The answer of a turn.
    Turn(Box<RecordedAnswer>),
    /// The answers of a group turn.
    Group(Box<GroupOutcome>),
}

/// The result of a look-up.
pub enum Lookup<'q> {
    /// All answers are recorded.
    Whole(RecordedOutcome),
    /// Recorded answers of `--parallel`, by the name of their model, and the first missing answer.
    Part(Vec<(String, RecordedAnswer)>, MissingAnswer<'q>),
    /// No answer is recorded.
    Nothing(MissingAnswer<'q>),
    /// No models are configured for the group turn.
    Unnamed,
}

/// A request without a recorded answer. Its error is made on demand, because that reads many messages.
pub enum MissingAnswer<'q> {
    /// The request for an answer.
    Answer(Box<Query<'q>>),
    /// The request for the verdict of this judge.
    Verdict(String),
}

impl MissingAnswer<'_> {
    /// Returns the error of a turn that may send nothing.
    pub fn error(&self, record: &RecordStore<'_>) -> Error {
        match self {
            MissingAnswer::Answer(query) => miss_error(record, query),
            MissingAnswer::Verdict(judge) => no_verdict(judge),
        }
    }
}

/// Looks up the answers of all these models.
pub fn look_up<'q>(
    record: &RecordStore<'_>,
    request: &LookupRequest<'q>,
    voices: Voices<'_>,
) -> Result<Lookup<'q>> {
    let settings = &request.configured.settings;
    let (names, orchestrator) = (&settings.many_participants, &settings.many_orchestrator);
    match voices {
        Voices::One { has_servers } => {
            let query = request.query(None, has_servers);
            Ok(match find(record, &query)? {
                Some(hit) => Lookup::Whole(RecordedOutcome::Turn(Box::new(hit))),
                None => Lookup::Nothing(MissingAnswer::Answer(Box::new(query))),
            })
        }
        Voices::Parallel { .. } | Voices::Debate if names.is_empty() => Ok(Lookup::Unnamed),
        Voices::Parallel { judge } => request.parallel(record, judge),
        Voices::Debate => {
            let Some(orchestrator) = orchestrator else { return Ok(Lookup::Unnamed) };
            let voice = |name: &str| (name.to_string(), request.group_query(name).options);
            let participants: Vec<_> = names.iter().map(|name| voice(name)).collect();
            Ok(match debate(record, request.history, &participants, &voice(orchestrator))? {
                Some(debated) => {
                    Lookup::Whole(RecordedOutcome::Group(Box::new(GroupOutcome::Debated(debated))))
                }
                None => Lookup::Nothing(MissingAnswer::Answer(Box::new(request.group_query(orchestrator)))),
            })
        }
    }
}

impl<'q> LookupRequest<'q> {
    /// Looks up the answer of each participant, and the verdict on them.
    fn parallel(&self, record: &RecordStore<'_>, judge: Option<&str>) -> Result<Lookup<'q>> {
        let (mut hits, mut missing) = (Vec::new(), None);
        for name in &self.configured.settings.many_participants {
            let query = self.group_query(name);
            match find(record, &query)? {
                Some(hit) => hits.push((name.clone(), hit)),
                None => missing = missing.or(Some(MissingAnswer::Answer(Box::new(query)))),
            }
        }
        let mut judged = None;
        if let (None, Some(judge)) = (&missing, judge) {
            let answers = hits.iter().map(|(_, hit)| hit.answer.id);
            judged = verdict(record, &self.group_query(judge), answers)?
                .map(|verdict| (judge.to_string(), verdict.outcome()));
            missing = judged.is_none().then(|| MissingAnswer::Verdict(judge.to_string()));
        }
        Ok(match missing {
            Some(missing) if hits.is_empty() => Lookup::Nothing(missing),
            Some(missing) => Lookup::Part(hits, missing),
            None => {
                let replies = hits.into_iter().map(|(name, hit)| (name, hit.outcome())).collect();
                let polled = ParallelOutcome { replies, judge: judged, error: None };
                Lookup::Whole(RecordedOutcome::Group(Box::new(GroupOutcome::Polled(polled))))
            }
        })
    }

    /// Describes the request to a model of a group turn, which has no tools.
    fn group_query(&self, name: &str) -> Query<'q> {
        Query { tools: ToolsRule::Are(ToolHashes::default()), ..self.query(Some(name), false) }
    }

    /// Describes the request to this model, or to the default one; the tools of its servers are unknown.
    fn query(&self, model: Option<&str>, has_servers: bool) -> Query<'q> {
        let settings = &self.configured.settings;
        let active = || settings.models.iter().find(|model| model.is_active).map(|model| model.name.clone());
        let name = model.map(str::to_string).or_else(|| settings.requested_model.clone()).or_else(active);
        let config: Option<ModelConfig> = name.as_deref().and_then(|name| settings.model(name).ok());
        let options = options_json(self.configured.cli_options(), &Default::default());
        let options = match &config {
            Some(config) => OptionsRule::Are(options_json(&config.options, &config.extra)),
            None => OptionsRule::Have(options),
        };
        let tools = match (&config, settings.tool_call_mode) {
            (_, ToolMode::Off) => ToolsRule::NoCall,
            (Some(config), _) if !has_servers => {
                ToolsRule::Are(ToolHashes::new(settings.may_command(config), &[]))
            }
            _ => ToolsRule::Any,
        };
        Query { history: self.history, model: name, options, schema: self.schema.map(schema_hash), tools }
    }
}
