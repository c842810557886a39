//! The input of a turn: a question, or a decision, and the place where it starts.

use std::sync::Arc;

use super::replay::ResultRecord;
use super::schema::AnswerSchema;
use super::served::Served;
use super::skills::Skill;
use super::{Carried, Decision, Question, Start, TurnEnv};
use lepo_base::error::Result;
use lepo_model::ModelConfig;

/// A question, or a decision to go on from.
pub struct Ask {
    /// The place that the turn starts from.
    pub start: Start,
    /// The question; none when one is answered again.
    pub question: Option<Question>,
    /// Resources and prompts of MCP servers that go with the question.
    pub served: Served,
    /// The system prompt of a new conv; with an empty one it has none, whatever the settings say.
    pub system_prompt: Option<String>,
    /// Commands of the user's own, run first.
    pub runs: Vec<String>,
    /// The first of these that ran already.
    pub ran: Vec<Carried>,
    /// Recorded results, in a replay: a request that has none is always asked about.
    pub results: Option<ResultRecord>,
    /// The decision on the request that [`Start::Decided`] goes on from.
    pub decision: Option<Decision>,
    /// The form that the answer must have.
    pub schema: Option<Arc<AnswerSchema>>,
    /// Only the code blocks of the answer are read.
    pub code_only: bool,
    /// The skill that the question is asked with.
    pub skill: Option<Skill>,
}

impl Ask {
    /// A question, or none where one is answered again, after commands of the user's own.
    pub fn new(start: Start, question: Option<Question>, runs: &[String]) -> Ask {
        Ask {
            start,
            question,
            served: Served::default(),
            system_prompt: None,
            runs: runs.to_vec(),
            ran: Vec::new(),
            results: None,
            decision: None,
            schema: None,
            code_only: false,
            skill: None,
        }
    }

    /// Makes it ready for a turn of this model: its files are checked, and a new conv gets the system prompt of the
    /// settings if it has none of its own.
    pub(super) fn prepare(&mut self, env: &TurnEnv, config: &ModelConfig) -> Result<()> {
        if let Some(question) = &self.question {
            env.configured.check_files(&question.files, config)?;
        }
        if self.start == Start::New && self.system_prompt.is_none() {
            self.system_prompt = env.system_prompt()?;
        }
        self.system_prompt = self.system_prompt.take().filter(|prompt| !prompt.is_empty());
        Ok(())
    }
}
