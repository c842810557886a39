//! The flow of one turn: runs, question, chooser → writer → consent → command, and the answer.

use std::path::PathBuf;
use std::sync::Arc;

use super::answer_loop::Offer;
use super::command_runner::{Carried, CommandRunner, all_but_stdout};
use super::request::Next;
use super::send::tell_saved;
use super::transcript::Transcript;
use super::{Decision, Event, Front, Interrupt, Mcp, Report, Start};
use crate::bubb::{Kind, Name};
use crate::config::{Insts, ModelConfig, Planner, Settings, ToolMode};
use crate::conv::Forest;
use crate::error::Result;
use crate::model::{Gate, Model, ToolWire, spec};
use crate::store::Store;
use crate::tool::{Detected, GrantedCommand};

/// What is asked.
pub struct Ask {
    /// Where it goes.
    pub start: Start,
    /// The question; none when one is answered again.
    pub question: Option<String>,
    /// The system prompt of a new conv.
    pub system_prompt: Option<String>,
    /// Commands of the user's own, run first.
    pub runs: Vec<String>,
    /// What the person said to the request that [`Start::Decided`] goes on from.
    pub decision: Option<Decision>,
}

impl Ask {
    /// A question, or none where one is answered again, after commands of the user's own.
    pub fn new(start: Start, question: Option<String>, runs: &[String]) -> Ask {
        Ask { start, question, system_prompt: None, runs: runs.to_vec(), decision: None }
    }
}

/// All that a turn is lent.
pub struct Turn<'t> {
    /// Where it is written.
    pub store: &'t Arc<Store>,
    /// The forest as it was when the question was asked.
    pub forest: &'t Forest,
    /// The settings in force.
    pub settings: &'t Settings,
    /// The instructions in force.
    pub insts: &'t Insts,
    /// Who answers.
    pub config: &'t ModelConfig,
    /// The line to who answers.
    pub model: &'t mut Model,
    /// Holds requests back until the question is durable.
    pub gate: Gate,
    /// What ends it early.
    pub interrupt: &'t Interrupt,
    /// What can hold a command here.
    pub sandbox: &'t Detected,
    /// lepo's own directories, which no held command sees.
    pub own: &'t [PathBuf],
    /// The tools of servers.
    pub mcp: Mcp<'t>,
    /// Who watches.
    pub front: &'t mut dyn Front,
}

impl<'t> Turn<'t> {
    /// Takes the turn. Whatever goes wrong is in the report, beside all that went right before.
    pub async fn take(mut self, ask: Ask) -> Report {
        let mut report = Report { model: Some(self.config.name.clone()), ..Report::default() };
        match Transcript::at(self.store, self.forest, ask.start) {
            Err(error) => report.error = Some(error),
            Ok(mut transcript) => {
                report.user = match ask.start {
                    Start::New | Start::Under(_) => None,
                    Start::Again(question) => Some(question),
                    Start::Decided(id) => self
                        .forest
                        .find(id)
                        .and_then(|ix| self.forest.last_question(ix))
                        .map(|ix| self.forest.name(ix).id),
                };
                report.error = self.go(ask, &mut transcript, &mut report).await.err();
                // Interrupted, it may still be on its way to the disk.
                match transcript.saved().await {
                    Ok(saved) => tell_saved(self.front, &mut report, saved),
                    Err(error) => report.error = report.error.or(Some(error)),
                }
                report.conv = transcript.path;
                report.conv.extend(report.answer.map(|answer| answer.name.id));
            }
        }
        report
    }

    async fn go(&mut self, ask: Ask, transcript: &mut Transcript, report: &mut Report) -> Result<()> {
        let mut opening: Vec<(Kind, bool, String)> = Vec::new();
        if ask.start == Start::New
            && let Some(prompt) = ask.system_prompt
        {
            opening.push((Kind::System, true, prompt));
        }
        if !ask.runs.is_empty() {
            for (kind, hidden, text) in opening.drain(..) {
                self.add(transcript, kind, hidden, text.as_bytes())?;
            }
            for command in &ask.runs {
                let (runner, front) = (self.runner(), &mut *self.front);
                report.tools.push(
                    runner
                        .run(transcript, command, &mut all_but_stdout(|event| front.happens(event)))
                        .await?,
                );
            }
        }
        opening.extend(ask.question.map(|question| (Kind::User, false, question)));
        if opening.is_empty() {
            self.gate.open();
        } else {
            let gate = self.gate.clone();
            transcript.begin(opening, move || gate.open());
        }

        let planner = self.planner();
        let mut tools = self.settings.tool_call_mode != ToolMode::Off;
        if tools {
            // They start while the model is asked about commands.
            self.mcp.servers.begin();
        }
        let mut on_side_branch = false;
        if let Some(decision) = ask.decision {
            on_side_branch = decision.name.kind == Kind::Assistant;
            tools &= self.decided(transcript, decision, report).await? == Next::Again;
        }
        // A planner's bubbs belong to the conv, not behind a native call.
        if tools && planner == Planner::Chooser && !on_side_branch {
            self.plan(transcript, report).await?;
        }
        if report.pending.is_some() {
            return report.waits();
        }
        let commands = tools && planner == Planner::Native;
        let calls = tools && !self.mcp.servers.is_empty();
        self.answer(transcript, report, Offer { commands, calls }).await
    }

    /// Who decides about commands. Native tools are an API's, which only some providers have.
    fn planner(&mut self) -> Planner {
        match self.settings.planner_or(spec(self.config).planner) {
            Planner::Native if spec(self.config).tools != ToolWire::Native => {
                let name = &self.config.name;
                let note = format!("note: {name} has no native tools: a chooser and a writer plan instead");
                self.front.happens(Event::Say(&note));
                Planner::Chooser
            }
            planner => planner,
        }
    }

    pub(super) fn add(
        &mut self,
        transcript: &mut Transcript,
        kind: Kind,
        hidden: bool,
        text: &[u8],
    ) -> Result<Name> {
        let name = transcript.add(kind, hidden, text)?;
        self.front.happens(Event::Bubb(&name, Some(text)));
        Ok(name)
    }

    pub(super) async fn carry_out(&mut self, granted: GrantedCommand) -> Result<Carried> {
        let (runner, front) = (self.runner(), &mut *self.front);
        runner.carry_out(granted, &mut all_but_stdout(|event| front.happens(event))).await
    }

    pub(super) fn runner(&self) -> CommandRunner<'t> {
        CommandRunner { store: self.store, settings: self.settings, own: self.own, interrupt: self.interrupt }
    }
}
