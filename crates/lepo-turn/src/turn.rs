//! A turn: the data of its steps, and functions that several steps share. Each step is a function in its own
//! file.

use std::borrow::Cow;
use std::sync::Arc;

use super::assembly::Target;
use super::body::Body;
use super::message::Message;
use super::planner::PLANS;
use super::received_calls::restore_earlier_calls;
use super::replay::RecordedResults;
use super::schema::AnswerSchema;
use super::skills::Skill;
use super::turn_path::TurnPath;
use super::turn_request::TurnRequest;
use super::unmask::store_unmasked;
use super::{Masking, Notice, Outcome, ToolUse, TurnEnv, TurnEvent, UnprovenMessage, View};
use crate::config::{CallHistory, Insts, Trust};
use lepo_base::error::{Error, ExitKind as ErrorKind, Result};
use lepo_base::hash::hash_of;
use lepo_base::hint::{Hint, ResumeAction};
use lepo_base::role::Role;
use lepo_model::{ConversationFormat, Gate, Model, ModelConfig, Planner, ToolFormat, ToolSpec, spec};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::Forest;
use lepo_tool::mcp::Servers;
use lepo_tool::{ToolMode, ToolRequest};

/// A turn, with everything it uses.
pub struct Turn<'t> {
    /// The environment of all turns.
    pub env: &'t TurnEnv,
    /// The instructions in effect.
    pub insts: Cow<'t, Insts>,
    /// The configuration of the model that answers.
    pub config: &'t ModelConfig,
    /// The client of the model.
    pub model: &'t mut Model,
    /// Delays requests until the question is durable.
    pub gate: Gate,
    pub servers: &'t mut Servers,
    /// The display of the turn.
    pub view: &'t mut dyn View,
    pub schema: Option<Arc<AnswerSchema>>,
    pub code_only: bool,
    /// Recorded results, in a replay.
    pub results: Option<RecordedResults>,
    /// The path from its root to the tip.
    pub path: TurnPath,
    /// The outcome so far.
    pub outcome: Outcome,
    /// Describes the pending request in a line.
    waiting: String,
    /// Whether the last answer of the conversation has another successor.
    pub forks: bool,
    /// The skills that the model may ask for.
    pub skills: TurnSkills,
    /// Messages of the conversation that need consent; `None` before they were searched.
    pub unproven: Option<Vec<UnprovenMessage>>,
}

#[derive(Default)]
pub struct TurnSkills {
    /// The skills that the model may ask for, or that the user named.
    pub offered: Vec<Skill>,
    /// The text stored before the answer, and its bubb.
    pub stored: Option<(String, BubbId)>,
}

/// The resources of a turn.
pub struct TurnResources<'t> {
    /// The client of the model that answers.
    pub model: &'t mut Model,
    /// The gate of its requests.
    pub gate: Gate,
    pub servers: &'t mut Servers,
    pub view: &'t mut dyn View,
}

impl<'t> Turn<'t> {
    /// Creates the turn of this input, after the bubbs of `path`. Removes recorded results from the input.
    pub fn new(
        env: &'t TurnEnv,
        (config, insts): (&'t ModelConfig, &'t Insts),
        resources: TurnResources<'t>,
        mut path: TurnPath,
        forest: &Forest,
        ask: &mut TurnRequest,
    ) -> Turn<'t> {
        let TurnResources { model, gate, servers, view } = resources;
        restore_earlier_calls(&mut path, &env.store, config);
        Turn {
            env,
            insts: Cow::Borrowed(insts),
            config,
            model,
            gate,
            servers,
            view,
            schema: ask.schema.clone(),
            code_only: ask.code_only,
            results: ask.results.take(),
            forks: path.forks(forest),
            outcome: Outcome::at_start(&config.name, forest, ask.start),
            path,
            waiting: String::new(),
            skills: TurnSkills::default(),
            unproven: None,
        }
    }
}

impl Turn<'_> {
    /// Decides which files of the conversation are sent to the model, and reports the others.
    pub fn choose_files(&mut self) {
        let left = self.path.choose_files(|| self.env.configured.accepts(self.config));
        if !left.is_empty() {
            self.view.on_event(TurnEvent::Notice(&Notice::FilesNotSent(self.config.name.clone(), left)));
        }
    }

    /// Returns the planner of this turn. Reports a notice if the configured planner needs native tools that
    /// the model does not have.
    pub fn planner(&mut self) -> Planner {
        let native = self.takes_native_tools();
        if spec(self.config).own_tools {
            return Planner::Off;
        }
        match self.env.settings().planner_or(spec(self.config).planner) {
            Planner::Native if !native => {
                if self.env.settings().planner == Planner::Native {
                    let name = self.config.name.clone();
                    self.view.on_event(TurnEvent::Notice(&Notice::NoNativeTools(name)));
                }
                Planner::Chooser
            }
            planner => planner,
        }
    }

    /// Waits until the question is durable, and reports it.
    pub async fn question_saved(&mut self) -> Result<()> {
        let saved = self.path.saved().await?;
        self.outcome.report_saved(self.view, saved);
        report_typed_secret(&self.env.masking, self.outcome.user, self.view);
        Ok(())
    }

    /// Stores the unmasked text of the pending request, which is the last bubb of the path.
    pub fn store_unmasked(&self) {
        let waits = self.outcome.pending.zip(self.path.messages.last());
        if let Some((id, message)) = waits {
            store_unmasked(&self.env.store, &self.env.masking, id, &message.text);
        }
    }

    pub fn wait_for(&mut self, name: &BubbName, request: &ToolRequest) {
        self.outcome.pending = Some(name.id);
        self.waiting = request.line();
        self.outcome.tools.push(ToolUse::new(name, request));
    }

    /// Returns an error with exit 4 if a request is pending.
    pub fn pending(&self) -> Result<()> {
        let Some(id) = self.outcome.pending else { return Ok(()) };
        Err(Error::new(ErrorKind::Pending, format!("needs approval: {}", self.waiting)).hint(
            Hint::default()
                .bare(ResumeAction::Approve(id.to_string()))
                .text("\n")
                .bare(ResumeAction::Deny(id.to_string())),
        ))
    }

    pub fn add(&mut self, role: Role, hidden: bool, text: &[u8]) -> Result<BubbName> {
        let name = self.path.add(role, hidden, text)?;
        self.view.on_event(TurnEvent::Bubb(&name, Some(text)));
        Ok(name)
    }

    /// Whether the answer follows the results of its calls, which later turns send then.
    pub fn leaves_calls_on_path(&self) -> bool {
        self.env.settings().tool_history == CallHistory::Keep
    }

    /// Whether the settings and the model allow tools.
    pub fn may_have_tools(&self) -> bool {
        self.env.settings().tool_call_mode != ToolMode::Off && !spec(self.config).own_tools
    }

    /// Returns the facts about the model for its requests.
    pub fn target(&self) -> Target<'_> {
        Target {
            form: spec(self.config).path,
            general: self.insts.general.as_deref(),
            plans: self.plans(),
            web: self.env.settings().tool_call_mode != ToolMode::Off,
            searches: self.config.options.web,
        }
    }

    /// Returns the instructions of chooser and writer for the system prompt: for models that plan so by default, unless the
    /// user wrote one of the two. They stay where tools are off for one question.
    pub fn plans(&self) -> Option<&'static str> {
        let (spec, settings) = (spec(self.config), self.env.settings());
        if spec.planner != Planner::Chooser || spec.path != ConversationFormat::Prompted {
            return None;
        }
        let is_on = match settings.planner_or(spec.planner) {
            Planner::Chooser | Planner::Native | Planner::Auto => true,
            Planner::Off => {
                let planned = |message: &Message| matches!(message.body, Body::Choice(_));
                settings.planner_with_tools(spec.planner) != Planner::Off
                    && self.path.messages.iter().any(planned)
            }
        };
        let has_both = self.insts.tool_chooser.is_some() && self.insts.command_writer.is_some();
        let changed = self.insts.changed();
        let is_as_made = !changed.contains(&"toolChooser") && !changed.contains(&"commandWriter");
        (is_on && has_both && is_as_made).then_some(&**PLANS)
    }

    pub fn takes_native_tools(&self) -> bool {
        spec(self.config).tools == ToolFormat::Native && self.model.takes_tools()
    }

    /// Returns the key of this conversation for the server's cache, if the model's API has a field for it: its root. In
    /// the first turn it is a hash of the tools and the leading system messages, which conversations of a loop share.
    pub fn cache_key(&self, tools: &[ToolSpec]) -> Option<String> {
        if !spec(self.config).names_root() {
            return None;
        }
        let path = &self.path;
        if !path.loaded.is_empty() {
            return path.id_at(0).map(|root| root.to_string());
        }
        let of_tool = |tool: &ToolSpec| format!("{} {} {}", tool.name, tool.description, tool.schema);
        let tools: Vec<String> = tools.iter().map(of_tool).collect();
        let leading =
            path.messages.iter().take_while(|message| message.role == Role::System && message.hidden);
        let texts = tools.iter().map(String::as_bytes).chain(leading.map(|message| message.text.as_bytes()));
        Some(hash_of(&texts.collect::<Vec<_>>()))
    }

    /// Reports a notice about the repository, but only once for all turns of a process.
    pub fn notify_once(&mut self, notice: Notice) {
        let mut notices = self.env.noted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !notices.contains(&notice) {
            self.view.on_event(TurnEvent::Notice(&notice));
            notices.push(notice);
        }
    }

    pub fn trust(&self) -> Trust {
        Trust::new(&self.env.configured.paths)
    }
}

/// Reports that text of the user contains apparent secrets and is stored unmasked.
pub fn report_typed_secret(masking: &Masking, question: Option<BubbId>, view: &mut dyn View) {
    let typed = question.and_then(|id| masking.typed_secret_notice(id));
    for note in masking.prompt_secret_notice().into_iter().chain(typed) {
        view.on_event(TurnEvent::Notice(&note));
    }
}
