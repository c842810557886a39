//! A session of an editor: one conversation, with its own mode and model.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Notify;

use super::OpenFolder;
use super::editor_server::EditorServer;
use crate::ui;
use lepo_acp::agent;
use lepo_base::error::{Error, Result};
use lepo_base::keyword::{Keyword, list_words, parse_keyword};
use lepo_store::bubb::BubbId;
use lepo_store::store::Store;
use lepo_tool::ToolMode;
use lepo_turn::config::ModelChoice;
use lepo_turn::{Configuration, Conversation, Interrupt, Position, Rules, TrustedFile, TurnEnv};

/// The signal that ends a cancelled turn.
pub const CANCELLED: u8 = 2;

/// A session; requests of the editor share it.
pub struct AcpSession {
    /// The id that the editor uses.
    pub id: String,
    /// The folder that the editor named.
    pub cwd: PathBuf,
    pub store: Arc<Store>,
    pub interrupt: Interrupt,
    /// Whether the journal has the id, and records the session's last bubb.
    pub is_journaled: bool,
    /// Notified when a turn ends.
    pub idle: Notify,
    pub state: RefCell<SessionState>,
    /// The environment of turns; `None` while a turn runs.
    env: RefCell<Option<TurnEnv>>,
    /// The working directory of turns.
    pub dir: PathBuf,
    repo_servers: Option<TrustedFile>,
    models: Vec<String>,
}

/// The mutable state of a session.
pub struct SessionState {
    pub conversation: Conversation,
    /// The mode of consent from the next turn on.
    pub mode: ToolMode,
    /// The model from the next turn on, if chosen.
    pub model: Option<String>,
    /// Whether a turn is running.
    pub is_running: bool,
    /// Whether the editor is asked about a request of an earlier process.
    pub is_asking: bool,
    /// The id of the editor's request that the turn answers.
    pub prompt: Option<Value>,
    /// Whether the turn was cancelled; a new prompt waits for its end.
    pub is_cancelled: bool,
    /// The requests that wait for the end of the turn, and whether each was cancelled, too.
    pub waiting: Vec<(Value, bool)>,
    /// The title last sent to the editor.
    pub title: Option<String>,
    /// MCP servers of the editor without approval.
    pub unapproved: Vec<EditorServer>,
    /// Approved MCP servers of the editor.
    pub approved: Vec<EditorServer>,
}

/// The position at which a session starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionStart {
    pub position: Position,
    /// Whether the journal has the id.
    pub is_journaled: bool,
}

impl AcpSession {
    /// Creates a session at `start`, whose turns use the folder `opened` and the servers that the editor sent.
    pub fn new(
        id: String,
        cwd: PathBuf,
        opened: OpenFolder,
        start: SessionStart,
        editor_servers: Vec<EditorServer>,
    ) -> Result<AcpSession> {
        let OpenFolder { configured, dir, repo_servers, store } = opened;
        let servers = configured.session_servers(&dir, repo_servers.clone(), Vec::new())?;
        let listed = ui::listed_models(&configured.settings, &configured.paths);
        let mut models: Vec<String> = listed.into_iter().map(|model| model.name).collect();
        let model = default_model(&configured);
        models.extend(model.iter().filter(|model| !models.contains(model)).cloned().collect::<Vec<_>>());
        let (unapproved, approved) = editor_servers.into_iter().partition(|server| !server.is_agreed);
        let state = SessionState {
            conversation: Conversation::new(start.position, Rules::EDITOR),
            mode: configured.settings.tool_call_mode,
            model,
            is_running: false,
            is_asking: false,
            prompt: None,
            is_cancelled: false,
            waiting: Vec::new(),
            title: None,
            unapproved,
            approved,
        };
        let interrupt = Interrupt::by_hand();
        let env = TurnEnv::new(configured, servers, store.clone(), interrupt.clone());
        Ok(AcpSession {
            id,
            cwd,
            store,
            interrupt,
            is_journaled: start.is_journaled,
            idle: Notify::new(),
            state: RefCell::new(state),
            env: RefCell::new(Some(env)),
            dir,
            repo_servers,
            models,
        })
    }

    /// Returns the bubb that the next question follows; `None` to start a conversation.
    pub fn tip(&self) -> Option<BubbId> {
        self.state.borrow().conversation.position.tip
    }

    /// Starts a turn: returns its environment; `None` while another turn runs.
    pub fn lend_env(&self) -> Option<TurnEnv> {
        let env = self.env.take()?;
        let mut state = self.state.borrow_mut();
        (state.is_running, state.is_cancelled) = (true, false);
        self.interrupt.reset();
        Some(env)
    }

    /// Cancels the turn and the prompts that wait for its end, or only the one with this request.
    pub fn cancel(&self, request: Option<&Value>) {
        let mut state = self.state.borrow_mut();
        let is_cancelled_now = |prompt: Option<&Value>| request.is_none() || prompt == request;
        if state.is_running && is_cancelled_now(state.prompt.as_ref()) {
            state.is_cancelled = true;
            self.interrupt.cancel(CANCELLED);
        }
        for (prompt, is_cancelled) in &mut state.waiting {
            *is_cancelled |= is_cancelled_now(Some(prompt));
        }
    }

    /// Waits until a queued prompt can start; returns whether it was cancelled.
    pub async fn wait_for_turn(&self, prompt: &Value) -> bool {
        loop {
            self.wait_idle().await;
            if let Some(is_cancelled) = self.first_waiting(prompt) {
                return is_cancelled;
            }
            // An earlier prompt starts first.
            tokio::task::yield_now().await;
        }
    }

    /// Ends a turn.
    pub fn return_env(&self, env: TurnEnv) {
        self.env.replace(Some(env));
        let mut state = self.state.borrow_mut();
        (state.is_running, state.is_asking, state.prompt) = (false, false, None);
        state.is_cancelled = false;
        self.idle.notify_waiters();
    }

    /// Waits until no turn is running.
    pub async fn wait_idle(&self) {
        loop {
            let idle = self.idle.notified();
            if !self.state.borrow().is_running {
                return;
            }
            idle.await;
        }
    }

    /// Removes the first queued prompt if it is this one; returns whether it was cancelled.
    fn first_waiting(&self, prompt: &Value) -> Option<bool> {
        let waiting = &mut self.state.borrow_mut().waiting;
        let is_first = waiting.first().is_some_and(|(first, _)| first == prompt);
        is_first.then(|| waiting.remove(0).1)
    }

    /// Applies the mode, model and MCP servers that were chosen since the last turn.
    pub async fn apply_settings(&self, env: &mut TurnEnv, new_servers: bool) -> Result<()> {
        let (mode, model) = {
            let state = self.state.borrow();
            (state.mode, state.model.clone())
        };
        if env.settings().tool_call_mode != mode {
            env.use_tool_mode_here(mode)?;
        }
        if let Some(model) = model.filter(|model| env.settings().requested_model.as_ref() != Some(model)) {
            env.use_model(&model)?;
        }
        if new_servers {
            let approved = self.state.borrow().approved.iter().map(|server| server.config.clone()).collect();
            let servers = env.configured.session_servers(&self.dir, self.repo_servers.clone(), approved)?;
            env.use_servers(servers).await;
        }
        Ok(())
    }

    /// Calls `make` with the configuration; `None` while a turn runs.
    pub fn with_configured<T>(&self, make: impl FnOnce(&Configuration) -> T) -> Option<T> {
        self.env.borrow().as_ref().map(|env| make(&env.configured))
    }

    /// Moves some bubbs of past days into their folders, as every command that writes does.
    pub fn tidy(&self) {
        let limit = self.env.borrow().as_ref().and_then(|env| env.settings().tidy.limit());
        if let Some(limit) = limit.map(|limit| limit as usize).filter(|&limit| self.store.is_untidy(limit))
            && let Err(error) = self.store.tidy_some(limit)
        {
            tracing::warn!(error = error.chain(), "not tidied");
        }
    }

    /// Records the session's last bubb in the journal.
    pub fn record_last(&self, bubb: BubbId) {
        if self.is_journaled {
            self.store.journal().note_session(&self.id, bubb);
        }
    }

    /// Sets the mode from the next turn on.
    pub fn set_mode(&self, word: &str) -> Result<()> {
        let modes = ToolMode::ALL;
        let mode = parse_keyword(word, modes)
            .ok_or_else(|| Error::usage(format!("unknown mode {word:?}; expected {}", list_words(modes))))?;
        self.state.borrow_mut().mode = mode;
        Ok(())
    }

    pub fn set_option(&self, option: &str, value: &str) -> Result<()> {
        if option != agent::MODEL {
            return Err(Error::usage(format!("unknown option {option:?}")));
        }
        if !self.models.iter().any(|model| model == value) {
            return Err(Error::usage(format!("no model {value:?}")).hint("`lepo model ls` lists them"));
        }
        self.state.borrow_mut().model = Some(value.to_string());
        Ok(())
    }

    /// Returns all modes, and the current one.
    pub fn modes(&self) -> Value {
        let about = |mode: &ToolMode| match mode {
            ToolMode::Manual => (mode.as_str(), "Manual", "Ask before each command and tool"),
            ToolMode::Auto => (mode.as_str(), "Auto", "Run what the settings allow without asking"),
            ToolMode::Off => (mode.as_str(), "Off", "No tools"),
        };
        let all: Vec<_> = ToolMode::ALL.iter().map(about).collect();
        agent::modes(self.state.borrow().mode.as_str(), &all)
    }

    /// Returns the options; `None` if no model is known.
    pub fn options(&self) -> Option<Value> {
        let state = self.state.borrow();
        state.model.as_ref().map(|model| agent::options(model, &self.models))
    }

    /// Returns the answer to the request that created or opened the session.
    pub fn answer(&self, is_new: bool) -> Value {
        agent::session(is_new.then_some(self.id.as_str()), self.modes(), self.options())
    }
}

/// Returns the default model, if it is known without requests to servers.
fn default_model(configured: &Configuration) -> Option<String> {
    match configured.settings.choose() {
        Ok(ModelChoice::Model(config)) => Some(config.name),
        _ => configured.settings.requested_model.clone(),
    }
}
