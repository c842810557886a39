//! The settings in force, and what is made of them: servers, models, prompts. Read before a store is made.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::Masking;
use super::agent_sandbox::{AgentSandboxes, ProcessSandboxer};
use super::attach::{NewFile, check};
use super::budget::Budget;
use super::instructions::Instructions;
use super::program_start::{check_key_program, model_folders, start_check};
use super::recorded::not_recorded;
use super::skills::Skills;
use super::store_insts::insts_in_force;
use super::user_key::{key_if_there, user_key};
use crate::config::{
    Flags, FolderTrust, Insts, LocalModels, ModelChoice, Paths, Settings, load_settings, system_prompt,
};
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_model::{
    ConversationFormat, EmbeddedInstall, FileSupport, Gate, Meter, Model, Timeouts, embedded_program,
    first_ollama_model, missing, spec, weights,
};
use lepo_model::{ModelConfig, ModelOptions, Provider};
use lepo_process::StartFolder;
use lepo_secrets::{MaskKey, keyed_hash};
use lepo_store::store::Store;
use lepo_tool::ToolMode;
use lepo_tool::mcp::client::{ProcessSetup, TimeLimits};
use lepo_tool::mcp::config::{ServerConfig, ServerVariables, servers};
use lepo_tool::mcp::{self, KeyedHash, ServerFolders, ServerTimeouts, Servers, ToolListCache};

/// A file of the repository that is trusted: its path and its bytes.
pub type TrustedFile = (PathBuf, Vec<u8>);

/// The folders in which servers start that work for `dir`. Those of a repository are trusted by their definition.
pub fn server_folders(paths: &Paths, dir: &Path) -> ServerFolders {
    ServerFolders {
        work_dir: dir.to_path_buf(),
        own: FolderTrust::new(paths).start_in(dir),
        repository: StartFolder::trusted(dir),
        empty: StartFolder::empty(&paths.state),
    }
}

/// The settings in force and the files they came from. Read before a store is made.
#[derive(Clone)]
pub struct Configuration {
    /// The paths of the user's own files.
    pub paths: Paths,
    /// The settings.
    pub settings: Settings,
    pub(crate) flags: Flags,
    repo: Option<TrustedFile>,
    pub(crate) budget: Option<Arc<Budget>>,
    pub(crate) held: AgentSandboxes,
}

impl Configuration {
    /// Reads the user's files, `repo` (the repository's own configuration) and the options.
    pub fn load(paths: Paths, env: &Env, repo: Option<TrustedFile>, flags: Flags) -> Result<Configuration> {
        let settings = load_settings(&paths, env, repo.clone(), &flags)?;
        let is_replayed = !flags.writes_nothing && env.text("LEPO_RECORDED")? == Some("only");
        let sends_nothing = flags.sends_nothing || is_replayed;
        let flags = Flags { sends_nothing, ..flags };
        Ok(Configuration { paths, settings, flags, repo, budget: None, held: AgentSandboxes::default() })
    }

    /// Reloads the settings. A choice made in a session counts as an option: neither the environment nor the
    /// repository wins over it.
    pub(crate) fn reload(&mut self) -> Result<()> {
        self.settings = load_settings(&self.paths, &Env::from_process(), self.repo.clone(), &self.flags)?;
        Ok(())
    }

    /// The MCP servers of the user and of `repo`, to be started in `dir`; set aside where tools are off.
    pub fn servers(&self, dir: &Path, repo: Option<TrustedFile>) -> Result<Servers> {
        let (env, keys) = (Env::from_process(), self.settings.keys());
        let variables = ServerVariables { env: &env, own: self.settings.key_variables(), keys: &keys };
        let found = servers(&self.paths.mcp_file(), repo, &variables);
        if self.settings.tool_call_mode == ToolMode::Off {
            // Only a conversation that has their tools needs them, and none is started: a fault is of no concern.
            let mut servers = self.servers_of(found.map(|(configs, _)| configs).unwrap_or_default(), dir);
            mcp::shelve(&mut servers);
            return Ok(servers);
        }
        let (configs, notices) = found?;
        let mut servers = self.servers_of(configs, dir);
        servers.defer_notices(notices);
        Ok(servers)
    }

    /// The servers of a session whose client gives some too, whatever the mode: it may change. One of the user's or of
    /// the repository stands before a given one of its name.
    pub fn session_servers(
        &self,
        dir: &Path,
        repo: Option<TrustedFile>,
        editor_servers: Vec<ServerConfig>,
    ) -> Result<Servers> {
        let (env, keys) = (Env::from_process(), self.settings.keys());
        let variables = ServerVariables { env: &env, own: self.settings.key_variables(), keys: &keys };
        let (mut configs, mut notices) = servers(&self.paths.mcp_file(), repo, &variables)?;
        for config in editor_servers {
            match configs.iter().any(|other| other.name == config.name) {
                true => notices.push(mcp::ServerNotice::NameTaken(config.name)),
                false => configs.push(config),
            }
        }
        let mut servers = self.servers_of(configs, dir);
        servers.defer_notices(notices);
        Ok(servers)
    }

    pub(crate) fn servers_of(&self, configs: Vec<ServerConfig>, dir: &Path) -> Servers {
        let settings = &self.settings;
        let patience = ServerTimeouts {
            connect: settings.mcp_connect,
            call: TimeLimits { idle: settings.mcp_idle, total: settings.mcp_total },
        };
        let hidden_env = settings.key_variables().to_vec();
        let folders = match configs.is_empty() {
            true => ServerFolders { work_dir: dir.to_path_buf(), ..ServerFolders::default() },
            false => server_folders(&self.paths, dir),
        };
        Servers::new(
            configs,
            patience,
            ProcessSetup {
                folders,
                check: start_check(&self.paths, dir),
                hidden_env,
                sign_ins: self.paths.sign_ins(),
                transports: Some(self.paths.state.join("mcp-transports")),
            },
            self.tool_lists().as_ref(),
        )
    }

    /// The user's key for keyed hashes; none where it cannot be kept, or is not there and nothing is to be written.
    fn key(&self) -> Option<MaskKey> {
        match self.flags.writes_nothing {
            true => key_if_there(&self.paths.state),
            false => user_key(&self.paths.state).ok(),
        }
    }

    /// True if the turn is only looked at: nothing is written.
    pub(crate) fn writes_nothing(&self) -> bool {
        self.flags.writes_nothing
    }

    /// The kept lists of tools; none where no key for them can be kept.
    fn tool_lists(&self) -> Option<ToolListCache> {
        let key = self.key()?;
        let hash: KeyedHash = Arc::new(move |parts| keyed_hash(&key, parts));
        Some(ToolListCache::new(self.paths.tool_lists(), hash))
    }

    /// The model that answers. If there is none: exit 2, with a hint.
    pub async fn choose(&self) -> Result<ModelConfig> {
        match self.settings.choose()? {
            ModelChoice::Model(config) => Ok(*config),
            ModelChoice::Look(look) => {
                let ollama_model = first_ollama_model(&look.ollama_url).await;
                let embedded = self.installed("").is_some();
                let model = look.choose(LocalModels { ollama_model, embedded })?;
                model.require_web()?;
                Ok(model)
            }
        }
    }

    /// The model that answers, without asking an Ollama server which ones it has.
    pub fn choose_offline(&self) -> Result<ModelConfig> {
        match self.settings.choose()? {
            ModelChoice::Model(config) => Ok(*config),
            ModelChoice::Look(look) => {
                look.choose(LocalModels { ollama_model: None, embedded: self.installed("").is_some() })
            }
        }
    }

    /// The system prompt of a new conv: the one asked for, else that of the user's file. A blank one is none. The file
    /// as it was made is for conversations `with_servers`.
    pub fn system_prompt(&self, with_servers: bool) -> Result<Option<String>> {
        match &self.flags.system_prompt {
            Some(text) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
            None => system_prompt(&self.paths, with_servers, self.flags.writes_nothing),
        }
    }

    /// Whether the user is asked what an agent may do by itself; else all of it is refused.
    pub(crate) fn asks_for_agents(&self) -> bool {
        self.settings.tool_call_mode != ToolMode::Off || self.flags.asks_for_agents
    }

    /// The options that the command line gave.
    pub fn cli_options(&self) -> &ModelOptions {
        &self.flags.options
    }

    /// The system prompt of `--system` or `/system`.
    pub fn cli_system_prompt(&self) -> Option<&str> {
        self.flags.system_prompt.as_deref()
    }

    /// The instructions in force, and a warning for each part of their file that is ignored.
    pub fn insts(&self, store: &Store) -> Result<(Insts, Vec<String>)> {
        insts_in_force(store, &self.paths)
    }

    /// The folder that lepo was started in, where the repository's words go along.
    pub(crate) fn start_dir(&self) -> Option<&Path> {
        self.flags.dir.as_deref()
    }

    /// The masking of secrets, as the settings say.
    pub fn masking(&self) -> Masking {
        Masking::with_key(&self.settings, &Env::from_process(), self.key())
    }

    /// lepo's own directories and files, which hold keys: no sandboxed command sees them.
    pub fn own(&self) -> Vec<PathBuf> {
        let named = self.flags.config.as_ref().and_then(|file| file.canonicalize().ok());
        let Paths { config, state, data, .. } = &self.paths;
        [config, state, data].into_iter().cloned().chain(named).collect()
    }

    /// Client for a configured model, silent for `idle` at most, whose requests wait for `gate`.
    pub fn model(&self, config: &ModelConfig, idle: Duration, gate: Gate) -> Result<Model> {
        if self.flags.sends_nothing {
            return Err(not_recorded("this request is not recorded, and nothing may be sent"));
        }
        let timeouts = Timeouts { connect: self.settings.http_connect, idle };
        if let Some(budget) = &self.budget {
            budget.check(config)?;
        }
        let installed = self.installed(&config.model);
        let _no_command_begins = check_key_program(&self.paths, config, &self.cli_dir())?;
        let mut model = Model::new(config, timeouts, &self.paths.state, gate, installed)?;
        model.set_meter(self.meter());
        model.set_folders(model_folders(&self.paths, self.cli_dir()));
        if config.sandbox.is_some() {
            model.set_holder(Arc::new(ProcessSandboxer::new(
                self.held.clone(),
                &self.settings,
                &self.paths,
                self.own(),
            )));
        }
        Ok(model)
    }

    /// The folder that a `cli` model works in: the one that lepo was started in.
    pub(crate) fn cli_dir(&self) -> PathBuf {
        let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        self.start_dir().map_or_else(here, Path::to_path_buf)
    }

    /// The files that a model takes.
    pub fn accepts(&self, config: &ModelConfig) -> FileSupport {
        lepo_model::accepts(config, &self.paths.state)
    }

    /// Checks the files of a question against what a model takes: each by itself, and all of them together.
    pub fn check_files(&self, files: &[NewFile], config: &ModelConfig) -> Result<()> {
        if files.is_empty() { Ok(()) } else { check(files, &self.accepts(config), &config.name) }
    }

    /// The embedded model of this name, if it is there.
    fn installed(&self, name: &str) -> Option<EmbeddedInstall> {
        let weights = weights::model_path(&self.paths.models(), name)?;
        Some(EmbeddedInstall { program: embedded_program()?, weights, named: None })
    }

    /// Fails if `--model` names a model that does not exist.
    pub fn check_wanted(&self) -> Result<()> {
        let Some(name) = &self.settings.wanted else { return Ok(()) };
        let model = self.settings.model(name)?;
        let weights = || weights::model_path(&self.paths.models(), &model.model);
        match model.provider == Provider::Embedded && !model.model.is_empty() && weights().is_none() {
            true => Err(missing(&model.model)),
            false => Ok(()),
        }
    }

    /// Counts what is spent in a store. `is_elsewhere`: the conversation itself leaves no lines in its journal.
    pub fn count_in(&mut self, store: Arc<Store>, is_elsewhere: bool) {
        let limits = self.settings.budgets(&self.flags);
        self.budget = Budget::new(&self.settings, limits, store, is_elsewhere);
    }

    /// The budget, if there is one.
    pub(crate) fn budget(&self) -> Option<&Budget> {
        self.budget.as_deref()
    }

    /// The meter of every request.
    pub(crate) fn meter(&self) -> Option<Arc<dyn Meter>> {
        self.budget.clone().map(|budget| budget as Arc<dyn Meter>)
    }

    /// The folder whose repository speaks to this model; or the reason why none does. Requests to a program or to the
    /// embedded model carry no tools, and a program reads the files itself.
    pub fn repository_speaks(&self, config: &ModelConfig) -> std::result::Result<&Path, &'static str> {
        let Some(dir) = self.start_dir() else { return Err("lepo was not started in a folder") };
        if self.settings.tool_call_mode == ToolMode::Off {
            return Err("tools are off");
        }
        match spec(config).path {
            ConversationFormat::Messages | ConversationFormat::Prompted => Ok(dir),
            ConversationFormat::Program => Err("the model is a program, which reads such files itself"),
            ConversationFormat::Plain => Err("the model is the embedded one, which can call no tools"),
        }
    }

    /// The instructions of the repository for this model; none where they do not go along.
    pub fn instructions(&self, config: &ModelConfig) -> Option<Instructions> {
        let dir = self.repository_speaks(config).ok().filter(|_| self.settings.agents)?;
        Some(Instructions::read(dir))
    }

    /// The skills that there are, where they go along at all.
    pub fn skills(&self) -> Result<Option<Skills>> {
        match self.start_dir().filter(|_| self.settings.skills) {
            Some(dir) => Skills::read(dir, &self.paths).map(Some),
            None => Ok(None),
        }
    }
}
