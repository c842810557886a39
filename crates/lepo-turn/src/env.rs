//! State that all turns of a process share: settings, store, servers, sandbox, and the signals that end a turn early.
//!
//! Created once, and used by one-shot turns, sessions, groups and decisions alike.

use std::path::PathBuf;
use std::sync::{Arc, Mutex as Lock};

use tokio::sync::{Mutex, MutexGuard};

use super::configuration::Configuration;
use super::folder_questions::{question_of_servers, take_answers};
use super::offer_catalog::OfferCatalog;
use super::programs::programs_of;
use super::steering_texts::SteeringTexts;
use super::{ChangedProgram, Interrupt, Masking, Notice, ProgramRole, StartQuestion};
use crate::config::{AutoCompact, FolderQuestion, Insts, ProgramTrust, Settings, set_tool_mode};
use lepo_base::error::Result;
use lepo_base::hash_file::HashFile;
use lepo_store::store::Store;
use lepo_tool::ToolMode;
use lepo_tool::mcp::{self, Pins, Servers};
use lepo_tool::{AllowedRequests, NamedProgram, SandboxDetector};

fn all_programs(configured: &Configuration, servers: &Servers, store: &Store) -> Arc<[NamedProgram]> {
    let servers = servers.each().iter().map(|server| &server.config);
    programs_of(&configured.settings.models, servers, &[store.root(), &configured.cli_dir()]).into()
}

/// State that is the same for all turns of a process, unless a session changes a setting.
pub struct TurnEnv {
    /// The settings in effect, with their files.
    pub configured: Configuration,
    /// The store to which turns are written.
    pub store: Arc<Store>,
    /// The signals that end a turn early.
    pub interrupt: Interrupt,
    /// Offers of the servers, for completion.
    pub catalogue: Arc<OfferCatalog>,
    /// Whether the store exists after the turn, so that a request may be pending.
    pub keeps: bool,
    pub(super) own_paths: Vec<PathBuf>,
    pub(super) sandbox: SandboxDetector,
    servers: Mutex<Servers>,
    /// Programs of servers and models that run outside of every sandbox.
    pub(super) programs: Arc<[NamedProgram]>,
    pub(super) pins: Pins,
    /// Requests that the user allowed for the rest of the session.
    pub(super) allowed: Lock<AllowedRequests>,
    /// The masking of written text.
    pub masking: Arc<Masking>,
    /// Notices about the repository's instructions and skills that were already given.
    pub(super) noted: Lock<Vec<Notice>>,
    /// Warnings about the instructions of the store that were already given.
    warned_of: Lock<Vec<String>>,
    /// Identities of folders about which nobody answered: no further question is about them.
    unanswered_folders: Lock<Vec<String>>,
    /// Identities of foreign texts that the user did not agree to: no further question is about them.
    refused_messages: Lock<Vec<String>>,
}

impl TurnEnv {
    /// Creates the environment, without starting a server.
    pub fn new(
        mut configured: Configuration,
        servers: Servers,
        store: Arc<Store>,
        interrupt: Interrupt,
    ) -> TurnEnv {
        if configured.budget.is_none() {
            configured.count_in(store.clone(), false);
        }
        let programs = all_programs(&configured, &servers, &store);
        configured.agent_sandboxes.protect(store.path(), programs.clone());
        TurnEnv {
            programs,
            keeps: true,
            own_paths: configured.own_paths(),
            sandbox: SandboxDetector::default(),
            catalogue: Arc::new(OfferCatalog::new(&servers)),
            servers: Mutex::new(servers),
            pins: Pins::new(HashFile::at(configured.paths.state.join("pins"))),
            allowed: Lock::default(),
            masking: Arc::new(configured.masking()),
            noted: Lock::default(),
            warned_of: Lock::default(),
            unanswered_folders: Lock::default(),
            refused_messages: Lock::default(),
            configured,
            store,
            interrupt,
        }
    }

    /// Creates the environment of turns that call no tools.
    pub fn without_servers(configured: Configuration, store: Arc<Store>, interrupt: Interrupt) -> TurnEnv {
        let servers = configured.servers_of(Vec::new(), store.root());
        TurnEnv::new(configured, servers, store, interrupt)
    }

    /// Returns the question to ask before [`TurnEnv::servers`] starts a server.
    pub async fn servers_question(&self) -> Result<StartQuestion> {
        let mut servers = self.servers.lock().await;
        let mut question = question_of_servers(&mut servers, &self.configured.paths)?;
        question.folders.retain(|question| !self.is_unanswered(question));
        Ok(question)
    }

    /// Stores the answer to a question before programs start. No further question is about the same folders.
    pub fn record_start_answer(&self, question: &StartQuestion, answer: Option<bool>) -> Result<()> {
        let Some(answer) = answer else {
            let mut unanswered =
                self.unanswered_folders.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            unanswered.extend(question.folders.iter().map(|question| question.folder.identity.clone()));
            return Ok(());
        };
        question.record_answer(answer, &self.configured.paths, self.store.root())?;
        if !answer {
            let mut refused = self.refused_messages.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            refused.extend(question.steering.identity());
        }
        Ok(())
    }

    /// Whether the user was asked about these texts, and did not agree.
    pub(super) fn are_refused(&self, texts: &SteeringTexts) -> bool {
        let refused = self.refused_messages.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        texts.identity().is_some_and(|identity| refused.contains(&identity))
    }

    /// Returns the MCP servers, each started or failed, and the notices about them.
    pub async fn servers(&self) -> (MutexGuard<'_, Servers>, Vec<mcp::ServerNotice>) {
        let mut servers = self.servers.lock().await;
        take_answers(&mut servers, &self.configured.paths);
        servers.wait_fully();
        let notes = servers.ready().await;
        (servers, notes)
    }

    /// Returns the MCP servers, without waiting until they are ready.
    pub(super) async fn servers_of_turns(&self) -> MutexGuard<'_, Servers> {
        self.servers.lock().await
    }

    /// Ends the MCP servers. Must be awaited before the process exits.
    pub async fn close(&self) {
        self.servers.lock().await.close().await;
    }

    /// Changes the model that answers.
    pub fn use_model(&mut self, name: &str) -> Result<()> {
        self.configured.flags.model = Some(name.to_string());
        self.configured.reload()
    }

    /// Changes the system prompt of new convs, or restores the configured one. Returns the previous value.
    pub fn use_system_prompt(&mut self, text: Option<String>) -> Option<String> {
        std::mem::replace(&mut self.configured.flags.system_prompt, text)
    }

    /// Changes how tool requests get consent; if `keep` is set, also in the user's settings.
    pub fn use_tool_mode(&mut self, mode: ToolMode, keep: bool) -> Result<()> {
        if keep {
            set_tool_mode(&self.configured.settings.file, mode)?;
        }
        self.configured.flags.tools = Some(mode);
        self.configured.reload()
    }

    /// Changes the tool mode for turns of this environment only.
    pub fn use_tool_mode_here(&mut self, mode: ToolMode) -> Result<()> {
        self.configured.flags.tools = Some(mode);
        self.configured.reload()
    }

    /// Replaces the MCP servers, and ends the previous ones.
    pub async fn use_servers(&mut self, servers: Servers) {
        self.close().await;
        self.catalogue = Arc::new(OfferCatalog::new(&servers));
        self.programs = all_programs(&self.configured, &servers, &self.store);
        self.configured.agent_sandboxes.protect(self.store.path(), self.programs.clone());
        self.servers = Mutex::new(servers);
    }

    /// Returns the system prompt of a new conv.
    pub fn system_prompt(&self) -> Result<Option<String>> {
        self.configured.system_prompt(!self.catalogue.names().is_empty())
    }

    /// Returns the number of requests that the user allowed for the rest of the session.
    pub fn allowed(&self) -> usize {
        self.allowed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).count()
    }

    /// Returns the settings in effect.
    pub fn settings(&self) -> &Settings {
        &self.configured.settings
    }

    /// Returns the instructions in effect, and a warning for each ignored part of their file that was not given
    /// before.
    pub fn insts(&self) -> Result<(Insts, Vec<String>)> {
        let (insts, mut warnings) = self.configured.insts(&self.store)?;
        let mut warned = self.warned_of.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        warnings.retain(|warning| !warned.contains(warning));
        warned.extend(warnings.iter().cloned());
        Ok((insts, warnings))
    }

    /// Returns the instructions in effect, where no warning can be shown: the next call of `insts` returns them.
    pub fn insts_without_warnings(&self) -> Result<Insts> {
        self.configured.insts(&self.store).map(|(insts, _)| insts)
    }

    /// Fills the catalogue whenever completion needs it. Never returns.
    pub async fn serve_catalogue(&self) {
        loop {
            let requested = self.catalogue.next_requests().await;
            let mut servers = self.servers_of_turns().await;
            // While the user types a line, no question about the start of a server can be shown.
            let question = question_of_servers(&mut servers, &self.configured.paths).ok();
            let needs_answer = |name: &str| {
                let Some(question) = &question else { return true };
                let server = servers.each().iter().find(|server| server.config.name == name);
                let waits = server.is_some_and(|server| servers.folders().depends_on_trust(&server.config));
                let is_changed = |changed: &ChangedProgram| matches!(&changed.role, ProgramRole::Server(changed) if changed == name);
                waits && !question.folders.is_empty() || question.changed.iter().any(is_changed)
            };
            let (skipped, requested): (Vec<String>, Vec<String>) =
                requested.into_iter().partition(|name| needs_answer(name));
            let mut notices =
                servers.start_named(|name| requested.iter().any(|requested| requested == name)).await;
            self.catalogue.skip(skipped);
            notices.extend(servers.list_offers().await);
            // A prompt is on the screen, so the next turn reports them.
            servers.defer_notices(notices);
            self.catalogue.fill(servers.each());
        }
    }

    /// Whether the question about a folder was asked, and nobody answered.
    pub(super) fn is_unanswered(&self, question: &FolderQuestion) -> bool {
        let unanswered = self.unanswered_folders.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        unanswered.contains(&question.folder.identity)
    }

    /// Records the files of all programs that were never seen, before anything can change them.
    pub(super) fn note_programs(&self) -> Result<()> {
        match ProgramTrust::of_folder(&self.configured.paths.state, self.store.root()) {
            Some(trust) => trust.note_first_sight(&self.programs),
            None => Ok(()),
        }
    }

    /// Whether a conversation that does not fit the window is compacted automatically.
    pub fn compacts_by_itself(&self) -> bool {
        self.settings().compact == AutoCompact::Auto
    }
}
