//! The input of a turn: a question, or a decision, and where it starts.

use std::sync::Arc;

use super::replay::RecordedResults;
use super::schema::AnswerSchema;
use super::server_attachments::ServerContent;
use super::skills::Skill;
use super::{Decision, Question, ToolResult, TurnEnv, TurnStart};
use lepo_base::error::Result;
use lepo_model::ModelConfig;

/// A question, or a decision from which to continue.
pub struct TurnRequest {
    /// Where the turn starts.
    pub start: TurnStart,
    /// The question; `None` if an existing question is answered again.
    pub question: Option<Question>,
    /// Resources and prompts of MCP servers for the question.
    pub served: ServerContent,
    /// The system prompt of a new conv; an empty one overrides the settings: no system prompt.
    pub system_prompt: Option<String>,
    /// Commands of the user's own, to be run first.
    pub runs: Vec<String>,
    /// The results of the first commands, which ran already.
    pub ran: Vec<ToolResult>,
    /// Recorded results, in a replay: a request without one always needs consent.
    pub results: Option<RecordedResults>,
    /// The decision on the request of [`TurnStart::Decided`].
    pub decision: Option<Decision>,
    /// The schema of the answer.
    pub schema: Option<Arc<AnswerSchema>>,
    /// Only the code blocks of the answer are used.
    pub code_only: bool,
    /// The skill that the question names.
    pub skill: Option<Skill>,
    /// Whether the rest of the stopped answer at the start is asked for.
    pub rest: bool,
    /// Whether secrets in texts that come with the question are sent.
    pub unmasked: bool,
}

impl TurnRequest {
    /// Creates the input for a question after `runs`; without a question, an existing question is answered
    /// again.
    pub fn new(start: TurnStart, question: Option<Question>, runs: &[String]) -> TurnRequest {
        TurnRequest {
            start,
            question,
            served: ServerContent::default(),
            system_prompt: None,
            runs: runs.to_vec(),
            ran: Vec::new(),
            results: None,
            decision: None,
            schema: None,
            code_only: false,
            skill: None,
            rest: false,
            unmasked: false,
        }
    }

    /// Checks the files for this model, and adds the system prompt of the settings to a new conv without its
    /// own.
    pub(super) fn prepare(&mut self, env: &TurnEnv, config: &ModelConfig) -> Result<()> {
        if let Some(question) = &self.question {
            env.configured.check_files(&question.files, config)?;
        }
        if self.start == TurnStart::New && self.system_prompt.is_none() {
            self.system_prompt = env.system_prompt()?;
        }
        self.system_prompt = self.system_prompt.take().filter(|prompt| !prompt.is_empty());
        Ok(())
    }
}
