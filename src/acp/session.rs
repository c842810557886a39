//! A session of an editor: one conversation that grows, with a mode and a model of its own.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Notify;

use super::Opened;
use super::given::Given;
use crate::ui;
use lepo_acp::agent;
use lepo_base::error::{Error, Result};
use lepo_base::word::{Word, list_words, read_word};
use lepo_store::bubb::BubbId;
use lepo_store::store::Store;
use lepo_tool::ToolMode;
use lepo_turn::config::ModelChoice;
use lepo_turn::{Configured, Interrupt, TrustedFile, TurnEnv};

/// The signal that a cancelled turn ends with.
pub const CANCELLED: u8 = 2;

/// A session.
pub struct Session {
    /// The id that the editor knows it by.
    pub id: String,
    /// The folder that the editor named.
    pub cwd: PathBuf,
    /// The store.
    pub store: Arc<Store>,
    /// Ends the turn.
    pub interrupt: Interrupt,
    /// The journal knows the id, and is told what is written in it.
    pub is_journaled: bool,
    /// Told when a turn has ended.
    pub idle: Notify,
    /// Mutable state.
    pub state: RefCell<SessionState>,
    /// The environment of turns: away while one is taken.
    env: RefCell<Option<TurnEnv>>,
    /// The folder that it works for.
    pub dir: PathBuf,
    repo_servers: Option<TrustedFile>,
    models: Vec<String>,
}

/// Mutable state of a session.
pub struct SessionState {
    /// The bubb that the next question follows; none where it begins a conversation.
    pub at: Option<BubbId>,
    /// The branch that moves on to each answer, and the bubb that it names by now.
    pub branch: Option<(String, BubbId)>,
    /// The request that waits where the conversation stands.
    pub pending: Option<BubbId>,
    /// The way tool requests get their consent, from the next turn on.
    pub mode: ToolMode,
    /// The model that answers from the next turn on, if one was chosen.
    pub model: Option<String>,
    /// A turn is taken.
    pub works: bool,
    /// The editor is asked about a request of an earlier process.
    pub asks_again: bool,
    /// The request of the editor that the turn answers.
    pub prompt: Option<Value>,
    /// The turn was cancelled, and ends soon: a prompt waits for it.
    pub is_cancelled: bool,
    /// The requests that wait for the end of the turn, and whether each was cancelled, too.
    pub waiting: Vec<(Value, bool)>,
    /// The title that the editor knows.
    pub title: Option<String>,
    /// MCP servers that the editor gives and that nobody agreed to yet.
    pub given: Vec<Given>,
    /// MCP servers of the editor that somebody agreed to.
    pub agreed: Vec<Given>,
}

/// The place at which a session begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The bubb that the next question follows.
    pub at: Option<BubbId>,
    /// The branch that moves on.
    pub branch: Option<(String, BubbId)>,
    /// The request that waits there.
    pub pending: Option<BubbId>,
    /// The journal knows the id.
    pub is_journaled: bool,
}

impl Session {
    /// A session at a place.
    pub fn new(id: String, cwd: PathBuf, opened: Opened, place: Place, given: Vec<Given>) -> Result<Session> {
        let Opened { configured, dir, repo_servers, store } = opened;
        let servers = configured.session_servers(&dir, repo_servers.clone(), Vec::new())?;
        let listed = ui::listed_models(&configured.settings, &configured.paths);
        let mut models: Vec<String> = listed.into_iter().map(|model| model.name).collect();
        let model = default_model(&configured);
        models.extend(model.iter().filter(|model| !models.contains(model)).cloned().collect::<Vec<_>>());
        let (given, agreed) = given.into_iter().partition(|server| !server.is_agreed);
        let state = SessionState {
            at: place.at,
            branch: place.branch,
            pending: place.pending,
            mode: configured.settings.tool_call_mode,
            model,
            works: false,
            asks_again: false,
            prompt: None,
            is_cancelled: false,
            waiting: Vec::new(),
            title: None,
            given,
            agreed,
        };
        let interrupt = Interrupt::by_hand();
        let env = TurnEnv::new(configured, servers, store.clone(), interrupt.clone());
        Ok(Session {
            id,
            cwd,
            store,
            interrupt,
            is_journaled: place.is_journaled,
            idle: Notify::new(),
            state: RefCell::new(state),
            env: RefCell::new(Some(env)),
            dir,
            repo_servers,
            models,
        })
    }

    /// The environment of a turn that begins; none while another one is taken.
    pub fn begin(&self) -> Option<TurnEnv> {
        let env = self.env.take()?;
        let mut state = self.state.borrow_mut();
        (state.works, state.is_cancelled) = (true, false);
        self.interrupt.reset();
        Some(env)
    }

    /// Cancels the turn and the prompt that waits for its end; or of both the one that answers this request.
    pub fn cancel(&self, request: Option<&Value>) {
        let mut state = self.state.borrow_mut();
        let is_meant = |prompt: Option<&Value>| request.is_none() || prompt == request;
        if state.works && is_meant(state.prompt.as_ref()) {
            state.is_cancelled = true;
            self.interrupt.end(CANCELLED);
        }
        for (prompt, is_cancelled) in &mut state.waiting {
            *is_cancelled |= is_meant(Some(prompt));
        }
    }

    /// Waits until a prompt that waits can begin; whether it was cancelled.
    pub async fn turn_of(&self, prompt: &Value) -> bool {
        loop {
            self.at_rest().await;
            if let Some(is_cancelled) = self.first_waiting(prompt) {
                return is_cancelled;
            }
            // One before it begins.
            tokio::task::yield_now().await;
        }
    }

    /// The turn is over.
    pub fn end(&self, env: TurnEnv) {
        self.env.replace(Some(env));
        let mut state = self.state.borrow_mut();
        (state.works, state.asks_again, state.prompt) = (false, false, None);
        state.is_cancelled = false;
        self.idle.notify_waiters();
    }

    /// Waits until no turn is taken.
    pub async fn at_rest(&self) {
        loop {
            let idle = self.idle.notified();
            if !self.state.borrow().works {
                return;
            }
            idle.await;
        }
    }

    /// Takes the first prompt that waits, if it is this one; whether it was cancelled.
    fn first_waiting(&self, prompt: &Value) -> Option<bool> {
        let waiting = &mut self.state.borrow_mut().waiting;
        let is_first = waiting.first().is_some_and(|(first, _)| first == prompt);
        is_first.then(|| waiting.remove(0).1)
    }

    /// Takes up mode, model and MCP servers that were chosen since the last turn.
    pub async fn settle(&self, env: &mut TurnEnv, new_servers: bool) -> Result<()> {
        let (mode, model) = {
            let state = self.state.borrow();
            (state.mode, state.model.clone())
        };
        if env.settings().tool_call_mode != mode {
            env.use_tool_mode_here(mode)?;
        }
        if let Some(model) = model.filter(|model| env.settings().wanted.as_ref() != Some(model)) {
            env.use_model(&model)?;
        }
        if new_servers {
            let agreed = self.state.borrow().agreed.iter().map(|given| given.config.clone()).collect();
            let servers = env.configured.session_servers(&self.dir, self.repo_servers.clone(), agreed)?;
            env.use_servers(servers).await;
        }
        Ok(())
    }

    /// The value that this makes of the configuration, unless a turn is taken.
    pub fn with_configured<T>(&self, make: impl FnOnce(&Configured) -> T) -> Option<T> {
        self.env.borrow().as_ref().map(|env| make(&env.configured))
    }

    /// Moves some bubbs of days that are over into their folders, as every command that writes does.
    pub fn tidy(&self) {
        let limit = self.env.borrow().as_ref().and_then(|env| env.settings().tidy.limit());
        if let Some(limit) =
            limit.map(|limit| limit as usize).filter(|&limit| self.store.upkeep().is_untidy(limit))
            && let Err(error) = self.store.upkeep().tidy_some(limit)
        {
            tracing::warn!(error = error.chain(), "not tidied");
        }
    }

    /// Notes what was written last.
    pub fn wrote(&self, bubb: BubbId) {
        if self.is_journaled {
            self.store.journal().note_session(&self.id, bubb);
        }
    }

    /// Takes another mode from the next turn on.
    pub fn set_mode(&self, word: &str) -> Result<()> {
        let modes = ToolMode::ALL;
        let mode = read_word(word, modes)
            .ok_or_else(|| Error::usage(format!("unknown mode {word:?}; expected {}", list_words(modes))))?;
        self.state.borrow_mut().mode = mode;
        Ok(())
    }

    /// Takes another value of an option.
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

    /// The modes, of which one is in force.
    pub fn modes(&self) -> Value {
        let about = |mode: &ToolMode| match mode {
            ToolMode::Manual => (mode.word(), "Manual", "Ask before each command and tool"),
            ToolMode::Auto => (mode.word(), "Auto", "Run what the settings allow without asking"),
            ToolMode::Off => (mode.word(), "Off", "No tools"),
        };
        let all: Vec<_> = ToolMode::ALL.iter().map(about).collect();
        agent::modes(self.state.borrow().mode.word(), &all)
    }

    /// The options, if a model can be named.
    pub fn options(&self) -> Option<Value> {
        let state = self.state.borrow();
        state.model.as_ref().map(|model| agent::options(model, &self.models))
    }

    /// The answer to the request that the session came of.
    pub fn answer(&self, is_new: bool) -> Value {
        agent::session(is_new.then_some(self.id.as_str()), self.modes(), self.options())
    }
}

/// The model that answers, as far as it is known without asking around.
fn default_model(configured: &Configured) -> Option<String> {
    match configured.settings.choose() {
        Ok(ModelChoice::Model(config)) => Some(config.name),
        _ => configured.settings.wanted.clone(),
    }
}
