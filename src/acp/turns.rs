//! The turns of a session: a question and its answer, the last question again, a decision on a pending request.

use serde_json::{Value, json};

use super::commands::{SlashAction, entered, skill_question};
use super::failure::{of_question, rpc_error};
use super::list::session_title;
use super::peer::EditorConnection;
use super::question::{PromptInput, text_part};
use super::servers;
use super::session::{AcpSession, CANCELLED};
use super::view::{AcpView, SilentView};
use crate::term::StatusLine;
use crate::ui;
use lepo_acp::agent::{self, StopReason};
use lepo_acp::content::ContentBlock;
use lepo_acp::rpc::RpcError;
use lepo_acp::update::{ChunkKind, SessionUpdate};
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::hint::HintTarget;
use lepo_model::ModelConfig;
use lepo_store::bubb::BubbId;
use lepo_store::conv::Forest;
use lepo_turn::skills::Skill;
use lepo_turn::{
    Branch, Compaction, FailedStep, KEEP, NextTurn, Outcome, Position, Question, ResourceAddress,
    ServerContent, TurnEnv, TurnRequest, TurnStart, Verdict, claim_request, compact, execute_turn,
    fill_in_time, join_parts,
};

type PromptResult = std::result::Result<Value, RpcError>;

pub struct SessionTurn<'t> {
    pub peer: &'t EditorConnection,
    pub session: &'t AcpSession,
    /// The environment, borrowed for this turn.
    pub env: &'t mut TurnEnv,
}

impl SessionTurn<'_> {
    pub async fn prompt(&mut self, blocks: Vec<ContentBlock>) -> PromptResult {
        let entry = PromptInput::read(blocks, &self.session.cwd);
        let settled = self.apply_settings().await;
        // Even if the turn is cancelled before it starts, the question is stored.
        if let Err(error) = settled {
            return self.not_begun(error, entry.text.clone());
        }
        for note in &entry.notes {
            self.peer.send_text(&self.session.id, ChunkKind::Thought, &format!("{note}\n"));
        }
        if entry.is_words() {
            match entered(&entry.text, &self.session.store, self.env) {
                Ok(None) => {}
                Ok(Some(action)) => return self.grant(action).await,
                Err(error) => return Err(rpc_error(&error)),
            }
        }
        match entry.question() {
            Ok(question) => self.ask(question, None, None).await,
            Err(wrong) => self.not_begun(wrong.0, wrong.1),
        }
    }

    /// Asks again about the request of an earlier process, and continues its turn.
    pub async fn ask_again(&mut self) {
        let answered = match self.apply_settings().await {
            Ok(()) => self.decide(Verdict::Ask).await,
            Err(error) => Err(rpc_error(&error)),
        };
        // This does not answer a prompt, so an error is sent as text.
        if let Err(error) = answered {
            self.peer.send_text(&self.session.id, ChunkKind::Agent, &format!("error: {}\n", error.message));
        }
    }

    async fn apply_settings(&mut self) -> Result<()> {
        let paths = self.env.configured.paths.clone();
        let has_new = !self.session.state.borrow().unapproved.is_empty() || self.has_unused();
        let more = match has_new {
            true => servers::ask(self.peer, self.session, &paths).await? && self.has_unused(),
            false => false,
        };
        self.session.apply_settings(self.env, more).await?;
        self.session.interrupt.or(async { Ok(()) }).await
    }

    /// Whether the user approved servers that are not in use yet.
    fn has_unused(&self) -> bool {
        let names = self.env.catalogue.names();
        self.session.state.borrow().approved.iter().any(|server| !names.contains(&server.config.name))
    }

    async fn grant(&mut self, action: SlashAction) -> PromptResult {
        match action {
            SlashAction::Retry => self.retry().await,
            SlashAction::Decide(verdict) => self.decide(verdict).await,
            SlashAction::Compact(words) => self.compact(&words).await,
            SlashAction::Undo => self.undo(),
            SlashAction::Branch(name) => self.branch(&name),
            SlashAction::Ask(text, model) => {
                self.peer.send_text(&self.session.id, ChunkKind::Thought, &format!("{text}\n"));
                match join_parts(vec![text_part(&text)], Vec::new(), Vec::new()) {
                    Ok(question) => self.ask(question, model.as_deref(), None).await,
                    Err(error) => Err(rpc_error(&error)),
                }
            }
            SlashAction::Skill(name, words) => match skill_question(&self.env.configured, &name, &words) {
                Ok((question, skill)) => self.ask(question, None, Some(skill)).await,
                Err(error) => Err(rpc_error(&error)),
            },
            SlashAction::Served(action) => {
                let served = ServerContent { prompt: Some(action), ..ServerContent::default() };
                let next = self.next_turn(false).map_err(|error| rpc_error(&error))?;
                let config = self.model(None).await.map_err(|error| rpc_error(&error))?;
                let ask = TurnRequest { served, ..TurnRequest::new(next.start, None, &[]) };
                self.turn(&config, &next.forest, ask).await
            }
        }
    }

    async fn ask(&mut self, question: Question, model: Option<&str>, skill: Option<Skill>) -> PromptResult {
        let prepared = self.prepare(&question, model).await;
        let (config, next) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return self.save_question(error, question, FailedStep::Room),
        };
        let resources = ResourceAddress::in_question(&question.text, self.env.catalogue.names());
        let served = ServerContent { resources, prompt: None };
        let kept = question.clone();
        let ask = TurnRequest { served, skill, ..TurnRequest::new(next.start, Some(question), &[]) };
        let ran = self.run(&config, &next.forest, ask).await;
        ran.unwrap_or_else(|error| self.save_question(error, kept, FailedStep::Begin))
    }

    /// Returns the model and the start of a question; compacts first if the question would not fit.
    async fn prepare(&mut self, question: &Question, model: Option<&str>) -> Result<(ModelConfig, NextTurn)> {
        let config = self.model(model).await?;
        self.env.configured.check_files(&question.files, &config)?;
        let mut next = self.next_turn(false)?;
        // A fork of the session may read its position in the meantime.
        let mut conversation = self.session.state.borrow().conversation.clone();
        let bytes = question.text.len();
        conversation.make_room(self.env, &config, &mut next, bytes, &mut SilentView).await?;
        self.session.state.borrow_mut().conversation = conversation;
        Ok((config, next))
    }

    async fn model(&self, named: Option<&str>) -> Result<ModelConfig> {
        match named {
            Some(name) => self.env.settings().model(name),
            None => self.env.interrupt.or(self.env.configured.choose()).await,
        }
    }

    fn forest(&self) -> Result<Forest> {
        self.session.state.borrow().conversation.forest(&self.session.store)
    }

    /// Reads what the next question follows, or the last one if it is answered `again`.
    fn next_turn(&self, again: bool) -> Result<NextTurn> {
        self.session.state.borrow().conversation.next_turn(&self.session.store, again)
    }

    async fn retry(&mut self) -> PromptResult {
        let next = self.next_turn(true).map_err(|error| rpc_error(&error))?;
        let config = self.model(None).await.map_err(|error| rpc_error(&error))?;
        self.turn(&config, &next.forest, TurnRequest::new(next.start, None, &[])).await
    }

    /// Decides on the pending request, and continues its turn.
    async fn decide(&mut self, verdict: Verdict) -> PromptResult {
        self.try_to_decide(verdict).await.unwrap_or_else(|error| Err(rpc_error(&error)))
    }

    async fn try_to_decide(&mut self, verdict: Verdict) -> Result<PromptResult> {
        let pending = self.session.state.borrow().conversation.position.pending;
        let id = pending.ok_or_else(|| Error::nothing("no request is pending here"))?;
        let store = self.session.store.clone();
        let (_claim, next, decision) = claim_request((&store, &self.env.masking), id, verdict)?;
        let config = self.model(None).await?;
        let ask = TurnRequest { decision: Some(decision), ..TurnRequest::new(next.start, None, &[]) };
        self.run(&config, &next.forest, ask).await
    }

    async fn turn(&mut self, config: &ModelConfig, forest: &Forest, ask: TurnRequest) -> PromptResult {
        self.run(config, forest, ask).await.unwrap_or_else(|error| Err(rpc_error(&error)))
    }

    /// Runs the turn, and continues after its result. Fails only before the turn starts.
    async fn run(&mut self, config: &ModelConfig, forest: &Forest, ask: TurnRequest) -> Result<PromptResult> {
        let (insts, warnings) = self.env.insts()?;
        for warning in warnings {
            self.peer.send_text(
                &self.session.id,
                ChunkKind::Thought,
                &format!("{}\n", StatusLine::warning(warning)),
            );
        }
        let mut view = AcpView::new(self.peer, self.session);
        let start = ask.start;
        if let TurnStart::Decided(id) = start {
            view.resume_call(id);
        }
        let outcome = execute_turn(self.env, config, &insts, forest, &mut view, ask).await?;
        view.flush();
        let has_withdrawn = view.has_withdrawn;
        self.follow(start, &outcome)?;
        self.send_state(config).await;
        Ok(self.answer(outcome, has_withdrawn))
    }

    fn answer(&self, outcome: Outcome, has_withdrawn: bool) -> PromptResult {
        let meta = meta(&outcome);
        match outcome.error {
            None => Ok(agent::prompted(StopReason::EndTurn, meta)),
            Some(error) if matches!(error.kind, ExitKind::Signal(_)) => {
                Ok(agent::prompted(StopReason::Cancelled, meta))
            }
            Some(error) if error.kind == ExitKind::Pending => {
                if has_withdrawn {
                    return Ok(agent::prompted(StopReason::Cancelled, meta));
                }
                let hint = error.hint_for(HintTarget::SHELL).unwrap_or_default();
                let words = format!("{}\n\n{}\n", error.chain(), ui::in_fence(&hint));
                self.peer.send_text(&self.session.id, ChunkKind::Agent, &words);
                Ok(agent::prompted(StopReason::EndTurn, meta))
            }
            Some(error) => Err(of_question(&ui::with_kept_question(error, outcome.user), outcome.user)),
        }
    }

    fn follow(&self, start: TurnStart, outcome: &Outcome) -> Result<()> {
        if let Some(answer) = &outcome.answer {
            self.session.record_last(answer.name.id);
        }
        let mut state = self.session.state.borrow_mut();
        state.conversation.follow(&self.session.store, start, outcome).map(drop)
    }

    /// Sends the title if it changed, and the fill level of the window.
    async fn send_state(&self, config: &ModelConfig) {
        let (Ok(forest), Some(at)) = (self.forest(), self.session.tip()) else { return };
        let ix = forest.find(at);
        let title = ix.and_then(|ix| session_title(&self.session.store, &forest, ix));
        if title.is_some() && self.session.state.borrow().title != title {
            self.session.state.borrow_mut().title = title.clone();
            let update = SessionUpdate::SessionInfoUpdate { title, updated_at: None, meta: None };
            self.peer.update(&self.session.id, &update);
        }
        if let Some(fill) = fill_in_time(self.env, config, &forest, at, 0).await {
            let usage = SessionUpdate::UsageUpdate { used: fill.tokens, size: fill.window };
            self.peer.update(&self.session.id, &usage);
        }
    }

    /// Handles a question that cannot be asked: stores its text, unless it is empty.
    fn not_begun(&self, error: Error, text: String) -> PromptResult {
        match join_parts(vec![text_part(&text)], Vec::new(), Vec::new()) {
            Ok(question) => self.save_question(error, question, FailedStep::Begin),
            Err(_) => Err(rpc_error(&error)),
        }
    }

    /// Stores a question that cannot be answered yet.
    fn save_question(&self, error: Error, question: Question, failed: FailedStep) -> PromptResult {
        let kept = self.session.state.borrow_mut().conversation.store_question(self.env, question, failed);
        let kept = match kept {
            Ok(Some(name)) => name.id,
            Ok(None) => return Err(rpc_error(&error)),
            Err(failed) => return Err(rpc_error(&failed)),
        };
        self.session.record_last(kept);
        match error.kind {
            ExitKind::Signal(_) => Ok(agent::prompted(StopReason::Cancelled, question_meta(kept))),
            _ => Err(of_question(&error, Some(kept))),
        }
    }

    async fn compact(&mut self, text: &str) -> PromptResult {
        let compacted = async {
            let NextTurn { forest, start: TurnStart::Under(tail) } = self.next_turn(false)? else {
                return Err(Error::nothing("there is nothing to summarise yet"));
            };
            let config = self.model(None).await?;
            let insts = self.env.insts_without_warnings()?;
            let instruction = Some(text).filter(|text| !text.is_empty());
            let wanted = Compaction { tail, keep: KEEP, instruction };
            compact(self.env, &config, &insts, &forest, wanted, &mut SilentView).await
        };
        match compacted.await {
            Ok(id) => {
                self.move_to(Some(id));
                self.end_with_text(&format!(
                    "Continuing from a summary: {id}; the conversation before it is unchanged."
                ))
            }
            Err(error) if error.kind == ExitKind::Signal(CANCELLED) => {
                Ok(agent::prompted(StopReason::Cancelled, json!({})))
            }
            Err(error) => Err(rpc_error(&error)),
        }
    }

    fn undo(&mut self) -> PromptResult {
        let before = self.forest().and_then(|forest| {
            let at = self.session.tip().and_then(|id| forest.find(id));
            let question = at.and_then(|ix| forest.last_question(ix));
            let question = question.ok_or_else(|| Error::nothing("no question to undo"))?;
            Ok(forest.name(question).prev)
        });
        let before = before.map_err(|error| rpc_error(&error))?;
        self.move_to(before);
        match before {
            Some(id) => self.end_with_text(&format!("Back at {id}; later messages stay in the store.")),
            None => self.end_with_text("Back at the beginning; later messages stay in the store."),
        }
    }

    /// Moves the session to `at`. The branch stays at the last answer.
    fn move_to(&self, at: Option<BubbId>) {
        self.session.state.borrow_mut().conversation.position = Position::at(at);
        if let Some(at) = at {
            self.session.record_last(at);
        }
    }

    fn branch(&self, name: &str) -> PromptResult {
        let named = || {
            lepo_store::store::check_branch_name(name)?;
            let at = self.session.tip().ok_or_else(|| Error::nothing("there is nothing to name yet"))?;
            match ui::make_branch(&self.session.store, name, at)? {
                true => Ok(at),
                false => Err(Error::nothing(format!("branch {name} already exists"))),
            }
        };
        let at = named().map_err(|error: Error| rpc_error(&error))?;
        let branch = Some(Branch { name: name.to_string(), at });
        self.session.state.borrow_mut().conversation.position.branch = branch;
        self.end_with_text(&format!("Branch {name} now follows this conversation."))
    }

    /// Ends a command that is not a turn.
    fn end_with_text(&self, text: &str) -> PromptResult {
        self.peer.send_text(&self.session.id, ChunkKind::Agent, &format!("{text}\n"));
        Ok(agent::prompted(StopReason::EndTurn, json!({})))
    }
}

fn question_meta(id: BubbId) -> Value {
    json!({ "lepo": { "question": id.to_string() } })
}

/// Returns the ids of a turn's messages and the usage of its answer, for `_meta`.
fn meta(outcome: &Outcome) -> Value {
    let id = |id: Option<BubbId>| id.map(|id| id.to_string());
    let answer = outcome.answer.map(|answer| {
        let usage = json!({ "input": answer.usage.input, "output": answer.usage.output });
        json!({ "id": answer.name.id.to_string(), "usage": usage, "ms": answer.ms })
    });
    json!({ "lepo": {
        "question": id(outcome.user),
        "answer": answer,
        "partial": id(outcome.partial),
        "pending": id(outcome.pending),
        "model": outcome.model,
    } })
}
