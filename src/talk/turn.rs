//! The flow of one turn: runs, question, chooser → writer → consent → command, and the answer.

use std::path::PathBuf;
use std::sync::Arc;

use super::command::{Carried, carry_out};
use super::line::Line;
use super::request::Next;
use super::send::tell_saved;
use super::{Decision, Event, Front, Interrupt, Report, Start, ToolUse};
use crate::bubb::{Kind, Name};
use crate::config::{Insts, ModelConfig, Planner, Provider, Settings};
use crate::conv::Forest;
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::model::{Gate, Model};
use crate::store::{Entry, Store};
use crate::tool::{Detected, Granted, Ground, Shell};

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
    /// Who watches.
    pub front: &'t mut dyn Front,
}

impl Turn<'_> {
    /// Takes the turn. Whatever goes wrong is in the report, beside all that went right before.
    pub async fn take(mut self, ask: Ask) -> Report {
        let mut report = Report { model: Some(self.config.name.clone()), ..Report::default() };
        let conv = match ask.start {
            Start::New => None,
            Start::Under(id) | Start::Again(id) | Start::Decided(id) => {
                self.forest.find(id).map(|ix| self.forest.conv(ix))
            }
        };
        match Line::new(self.store, self.forest, conv.as_ref()) {
            Err(error) => report.error = Some(error),
            Ok(mut line) => {
                report.user = match ask.start {
                    Start::New | Start::Under(_) => None,
                    Start::Again(question) => Some(question),
                    Start::Decided(id) => self
                        .forest
                        .find(id)
                        .and_then(|ix| self.forest.last_question(ix))
                        .map(|ix| self.forest.name(ix).id),
                };
                report.error = self.go(ask, &mut line, &mut report).await.err();
                // Interrupted, it may still be on its way to the disk.
                match line.saved().await {
                    Ok(saved) => tell_saved(self.front, &mut report, saved),
                    Err(error) => report.error = report.error.or(Some(error)),
                }
                report.conv = line.path;
                report.conv.extend(report.answer.map(|answer| answer.name.id));
            }
        }
        report
    }

    async fn go(&mut self, ask: Ask, line: &mut Line, report: &mut Report) -> Result<()> {
        let mut opening: Vec<(Kind, bool, String)> = Vec::new();
        if ask.start == Start::New
            && let Some(prompt) = ask.system_prompt
        {
            opening.push((Kind::System, true, prompt));
        }
        if !ask.runs.is_empty() {
            for (kind, hidden, text) in opening.drain(..) {
                self.add(line, kind, hidden, text.as_bytes())?;
            }
            for command in &ask.runs {
                self.run(line, command, report).await?;
            }
        }
        opening.extend(ask.question.map(|question| (Kind::User, false, question)));
        if opening.is_empty() {
            self.gate.open();
        } else {
            let gate = self.gate.clone();
            line.begin(opening, move || gate.open());
        }

        let planner = self.planner();
        let mut tools = planner != Planner::Off;
        let mut on_side_branch = false;
        if let Some(decision) = ask.decision {
            on_side_branch = decision.name.kind == Kind::Assistant;
            tools &= self.decided(line, decision, report).await? == Next::Again;
        }
        // A planner's bubbs belong to the conv, not behind a native call.
        if tools && planner == Planner::Chooser && !on_side_branch {
            self.plan(line, report).await?;
        }
        if report.pending.is_some() {
            return waits(report);
        }
        self.answer(line, report, tools && planner == Planner::Native).await
    }

    /// Who decides about commands. Native tools are an API's, which only some providers have.
    fn planner(&mut self) -> Planner {
        match self.settings.planner_for(self.config) {
            Planner::Native if self.config.provider != Provider::Openai => {
                let name = &self.config.name;
                let note = format!("note: {name} has no native tools: a chooser and a writer plan instead");
                self.front.happens(Event::Say(&note));
                Planner::Chooser
            }
            planner => planner,
        }
    }

    /// The user's own command: no consent, no sandbox, its output for all to see.
    async fn run(&mut self, line: &mut Line, command: &str, report: &mut Report) -> Result<()> {
        self.front.happens(Event::Running(command));
        let carried = self.carry_out(Granted::by_user(command)).await?;
        let name = self.add(line, Kind::System, false, &carried.text)?;
        self.journal_command(&name, &carried);
        report.tools.push(ToolUse {
            bubb: name.id,
            kind: "run",
            request: serde_json::json!({ "command": command }),
            result: Some(name.id),
            exit: carried.exit,
        });
        Ok(())
    }

    pub(super) fn add(&mut self, line: &mut Line, kind: Kind, hidden: bool, text: &[u8]) -> Result<Name> {
        let name = line.add(kind, hidden, text)?;
        self.front.happens(Event::Bubb(&name, Some(text)));
        Ok(name)
    }

    pub(super) async fn carry_out(&mut self, granted: Granted) -> Result<Carried> {
        let ground = Ground {
            dir: self.store.root(),
            store: &self.store.path(),
            own: self.own,
            read_only: &self.settings.sandbox_read_only,
        };
        let shell = Shell {
            ground,
            hidden_env: self.settings.key_variables(),
            timeout: self.settings.command_timeout,
        };
        let front = &mut *self.front;
        let mut live = |bytes: &[u8]| front.happens(Event::Stderr(bytes));
        let carried = carry_out(self.store, shell, granted, self.settings.output_limit, &mut live);
        self.interrupt.or(carried).await
    }

    // The journal is never needed: that it cannot be written is no reason to fail.
    pub(super) fn journal_command(&self, name: &Name, carried: &Carried) {
        let _ = self.store.journal(Entry {
            bubb: Some(name.id),
            what: "command",
            ms: carried.ms,
            exit: carried.exit,
            ..Entry::default()
        });
    }
}

/// The end of a turn whose request waits for consent.
pub(super) fn waits(report: &Report) -> Result<()> {
    let Some(id) = report.pending else { return Ok(()) };
    Err(Error::new(ErrorKind::Pending, format!("request {id} waits for consent"))
        .hint(format!("`lepo do --approve {id}` runs it, `lepo do --deny {id}` refuses it")))
}
