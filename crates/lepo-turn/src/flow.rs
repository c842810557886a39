//! The order of one turn: `--run` commands, the question, the planner (chooser, writer, consent, command), the answer.

use std::sync::Arc;

use super::attach::begin_files;
use super::offer::Offer;
use super::record::TurnRecord;
use super::replay::ResultRecord;
use super::request::Next;
use super::schema::AnswerSchema;
use super::served::Served;
use super::skills::{Skill, TurnSkills};
use super::transcript::Opening;
use super::truth::{forget_overtaken, keep_truth};
use super::{Carried, Decision, Event, Front, Masking, Question, Report, Start, TurnEnv};
use crate::config::Insts;
use lepo_base::error::{Error, Result};
use lepo_model::{Gate, Model, ToolWire, spec};
use lepo_model::{ModelConfig, Planner};
use lepo_store::bubb::{BubbId, Kind, Name};
use lepo_tool::ToolMode;
use lepo_tool::mcp::Servers;

/// A question, or a decision to go on from.
pub struct Ask {
    /// The place that the turn starts from.
    pub start: Start,
    /// The question; none when one is answered again.
    pub question: Option<Question>,
    /// Resources and prompts of MCP servers that go with the question.
    pub served: Served,
    /// The system prompt of a new conv.
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
            skill: None,
        }
    }
}

/// One turn, with everything it uses.
pub(super) struct Turn<'t> {
    /// Environment, one for all turns.
    pub env: &'t TurnEnv,
    /// The instructions in force.
    pub insts: &'t Insts,
    /// The configuration of the model that answers.
    pub config: &'t ModelConfig,
    /// The client for it.
    pub model: &'t mut Model,
    /// Holds requests back until the question is durable.
    pub gate: Gate,
    /// The MCP servers.
    pub servers: &'t mut Servers,
    /// The view of the turn.
    pub front: &'t mut dyn Front,
    /// The form that the answer must have.
    pub schema: Option<Arc<AnswerSchema>>,
    /// Recorded results, in a replay.
    pub results: Option<ResultRecord>,
    /// Transcript and report of the turn, as they grow.
    pub record: TurnRecord,
    /// Something else follows the last answer of the conversation.
    pub forks: bool,
    /// The skills that the model may ask for.
    pub skills: TurnSkills,
}

impl<'t> Turn<'t> {
    /// Takes the turn. A failure is in the report, beside the results before it.
    pub async fn take(mut self, ask: Ask) -> Report {
        let ended = self.go(ask).await;
        let masking = self.env.masking.clone();
        let truths = masking.truths();
        if let Some(told) = masking.told() {
            self.front.happens(Event::Say(&told));
        }
        let Turn { env, record, front, .. } = self;
        let report = record.finish(front, ended).await;
        forget_overtaken(&env.store);
        // A turn that failed early has not told it yet.
        tell_typed(&masking, report.user, front);
        Report { truths, ..report }
    }

    async fn go(&mut self, mut ask: Ask) -> Result<()> {
        let decision = ask.decision.take();
        let decided = decision.as_ref().map(|decision| decision.name.id);
        self.open(ask).await?;
        let offer = self.decide_or_plan(decision).await?;
        let answered = self.answer(offer).await;
        if let Some(request) = decided.filter(|_| answered.is_ok()) {
            self.env.store.requests().forget_replay(request);
        }
        answered
    }

    /// Runs the commands of `--run`, and begins to write what comes before the answer.
    async fn open(&mut self, ask: Ask) -> Result<()> {
        let served = self.fetch(&ask.served).await?;
        if ask.question.is_none() && served.last().is_some_and(|(kind, ..)| *kind == Kind::Assistant) {
            return Err(Error::usage(
                "the prompt ends with a message of the assistant, so there is no question",
            )
            .hint("add a question: lepo do --prompt SERVER/NAME QUESTION"));
        }
        let mut opening: Vec<Opening> = Vec::new();
        let is_asked_anew = matches!(ask.start, Start::New | Start::Under(_));
        if ask.start == Start::New
            && let Some(prompt) = ask.system_prompt
        {
            opening.push(Opening { kind: Kind::System, hidden: true, text: prompt, kept: None });
        }
        self.find_skills()?;
        if is_asked_anew {
            opening.extend(self.instructions());
            opening.extend(self.catalogue());
        }
        if !ask.runs.is_empty() {
            for Opening { kind, hidden, text, kept } in opening.drain(..) {
                let kept = kept.as_ref().unwrap_or(&text);
                let name = self.record.transcript.add_as(kind, hidden, text.as_bytes(), kept.as_bytes())?;
                self.front.happens(Event::Bubb(&name, Some(text.as_bytes())));
            }
            let mut ran = ask.ran.into_iter();
            for command in &ask.runs {
                let (runner, front) = (self.env.runner(), &mut *self.front);
                let mut tell = |event: Event<'_>| front.happens(event);
                let transcript = &mut self.record.transcript;
                let used = match ran.next() {
                    Some(carried) => runner.keep_own(transcript, command, &carried, &mut tell)?,
                    None => runner.run(transcript, command, &mut tell).await?,
                };
                self.record.report.tools.push(used);
            }
        }
        let masking = self.env.masking.clone();
        opening.extend(served.into_iter().map(|(kind, hidden, text)| {
            let kept = masking.kept(text.as_bytes(), "what an MCP server gave");
            let kept = Some(String::from_utf8_lossy(&kept).into_owned());
            Opening { kind, hidden, text, kept }
        }));
        if let Some(skill) = ask.skill {
            opening.extend(self.named_skill(skill));
        }
        let mut files = Vec::new();
        if let Some(question) = ask.question {
            let (text, typed);
            typed = question.typed.clone();
            (text, files) = begin_files(&self.env.store, question)?;
            let kept = masking.kept_question(&text, &typed);
            opening.push(Opening { kind: Kind::User, hidden: false, text, kept: Some(kept) });
        }
        if opening.is_empty() {
            self.gate.open();
        } else {
            let gate = self.gate.clone();
            self.record.transcript.begin(opening, files, move || gate.open());
        }
        self.choose_files();
        Ok(())
    }

    /// Applies the decision that the turn goes on from, or lets a chooser plan; gives the tools that the model
    /// may call after it.
    async fn decide_or_plan(&mut self, decision: Option<Decision>) -> Result<Offer> {
        let planner = self.planner();
        let own_tools = spec(self.config).own_tools;
        let tools = self.env.settings().tool_call_mode != ToolMode::Off && !own_tools;
        if tools {
            // Servers start while the chooser is asked about commands.
            self.servers.begin();
            // Where none is left, nothing waits for them.
            if self.servers.is_empty() {
                for text in self.servers.unsaid() {
                    self.front.happens(Event::Say(&text));
                }
            }
        }
        let mut on_side_branch = false;
        let mut ended = false;
        if let Some(decision) = decision {
            on_side_branch = decision.name.kind == Kind::Assistant;
            self.record.transcript.take_up_called(&self.env.store, self.config, decision.name.id);
            ended = self.decided(decision).await? != Next::Again;
        }
        // A planner's bubbs belong to the conv, not behind a native call.
        if tools && !ended && planner == Planner::Chooser && !on_side_branch {
            self.plan().await?;
        }
        self.record.pending()?;
        // Behind a native call the model is told the same tools as before it, even if it may call none.
        let tools = tools && (!ended || on_side_branch);
        let commands = tools && planner == Planner::Native;
        let calls = tools && !self.servers.is_empty();
        Ok(Offer { commands, calls, skills: tools, ended })
    }

    /// Decides which files of the conversation are sent to the model, and tells which are not.
    pub(super) fn choose_files(&mut self) {
        let left = self.record.transcript.choose_files(|| self.env.configured.accepts(self.config));
        for note in left.words(&self.config.name) {
            self.front.happens(Event::Say(&note));
        }
    }

    /// The planner of this turn. Only some providers have native tools: a note says if the configured planner
    /// cannot be used.
    pub(super) fn planner(&mut self) -> Planner {
        let native = spec(self.config).tools == ToolWire::Native && self.model.takes_tools();
        if spec(self.config).own_tools {
            return Planner::Off;
        }
        match self.env.settings().planner_or(spec(self.config).planner) {
            Planner::Native if !native => {
                if self.env.settings().planner == Planner::Native {
                    let name = &self.config.name;
                    let note = format!(
                        "note: {name} has no native tool calling: it is asked beforehand whether a command is needed (planner = \"chooser\")"
                    );
                    self.front.happens(Event::Say(&note));
                }
                Planner::Chooser
            }
            planner => planner,
        }
    }

    /// Waits until the question is durable, and tells of it.
    pub(super) async fn question_saved(&mut self) -> Result<()> {
        let saved = self.record.transcript.saved().await?;
        self.record.tell_saved(self.front, saved);
        tell_typed(&self.env.masking, self.record.report.user, self.front);
        Ok(())
    }

    /// Keeps the truth of the request that waits, which is the last of the path.
    pub(super) fn keep_truth(&self) {
        let waits = self.record.report.pending.zip(self.record.transcript.entries.last());
        if let Some((id, entry)) = waits {
            keep_truth(&self.env.store, &self.env.masking, id, &entry.text);
        }
    }

    pub(super) fn add(&mut self, kind: Kind, hidden: bool, text: &[u8]) -> Result<Name> {
        self.record.add(self.front, kind, hidden, text)
    }
}

/// Says that the user's own words are kept as typed, if they have what looks like a secret.
fn tell_typed(masking: &Masking, question: Option<BubbId>, front: &mut dyn Front) {
    if let Some(note) = question.and_then(|id| masking.told_typed(id)) {
        front.happens(Event::Say(&note));
    }
}
