//! The settings in effect, and the servers, models and prompts that they configure. Read before a store exists.

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
    first_ollama_model, missing_weights, spec, weights,
};
use lepo_model::{ModelConfig, ModelOptions, Provider};
use lepo_process::StartFolder;
use lepo_secrets::{MaskKey, keyed_hash};
use lepo_store::store::Store;
use lepo_tool::ToolMode;
use lepo_tool::mcp::client::{ProcessSetup, TimeLimits};
use lepo_tool::mcp::config::{ServerConfig, ServerVariables, servers};
use lepo_tool::mcp::{self, KeyedHash, ServerFolders, ServerTimeouts, Servers, ToolListCache};

/// A trusted file of the repository: its path and its bytes.
pub type TrustedFile = (PathBuf, Vec<u8>);

/// Returns the folders in which servers that work for `dir` start. Trust in a repository's servers includes their
/// folders.
pub fn server_folders(paths: &Paths, dir: &Path) -> ServerFolders {
    ServerFolders {
        work_dir: dir.to_path_buf(),
        own_start: FolderTrust::new(paths).start_in(dir),
        repository: StartFolder::trusted(dir),
        empty: StartFolder::empty(&paths.state),
    }
}

/// The settings in effect and the files they come from. Read before a store exists.
#[derive(Clone)]
pub struct Configuration {
    /// Paths of the user's own files.
    pub paths: Paths,
    /// The settings in effect.
    pub settings: Settings,
    /// The environment that the settings were read with.
    env: Arc<Env>,
    pub(crate) flags: Flags,
    repo: Option<TrustedFile>,
    pub(crate) budget: Option<Arc<Budget>>,
    pub(crate) agent_sandboxes: AgentSandboxes,
    /// The MCP servers that are starting.
    pub starting: mcp::StartingNames,
}

impl Configuration {
    /// Reads the user's files, the repository's own configuration `repo`, and the options.
    pub fn load(paths: Paths, env: &Env, repo: Option<TrustedFile>, flags: Flags) -> Result<Configuration> {
        let settings = load_settings(&paths, env, repo.clone(), &flags)?;
        let is_replayed = !flags.writes_nothing && env.text("LEPO_RECORDED")? == Some("only");
        let sends_nothing = flags.sends_nothing || is_replayed;
        let flags = Flags { sends_nothing, ..flags };
        Ok(Configuration {
            paths,
            settings,
            env: Arc::new(env.clone()),
            flags,
            repo,
            budget: None,
            agent_sandboxes: AgentSandboxes::default(),
            starting: mcp::StartingNames::default(),
        })
    }

    /// Reloads the settings. A choice made in a session counts as an option: neither the environment nor the
    /// repository overrides it.
    pub(crate) fn reload(&mut self) -> Result<()> {
        self.settings = load_settings(&self.paths, &self.env, self.repo.clone(), &self.flags)?;
        Ok(())
    }

    /// Returns the MCP servers of the user and of `repo` that start in `dir`. If tools are off, the servers are
    /// inactive.
    pub fn servers(&self, dir: &Path, repo: Option<TrustedFile>) -> Result<Servers> {
        let keys = self.settings.keys();
        let variables =
            ServerVariables { env: &self.env, own_names: self.settings.key_variables(), keys: &keys };
        let found = servers(&self.paths.mcp_file(), repo, &variables);
        if self.settings.tool_call_mode == ToolMode::Off {
            // Inactive servers are only listed for a conversation that has their tools, so an error in their
            // configuration is ignored.
            let mut servers = self.servers_of(found.map(|(configs, _)| configs).unwrap_or_default(), dir);
            mcp::shelve(&mut servers);
            return Ok(servers);
        }
        let (configs, notices) = found?;
        let mut servers = self.servers_of(configs, dir);
        servers.defer_notices(notices);
        Ok(servers)
    }

    /// Returns the servers of a session whose client provides some, too; in every mode, because the mode may change.
    /// Servers of the user and of the repository take precedence over the client's with the same name.
    pub fn session_servers(
        &self,
        dir: &Path,
        repo: Option<TrustedFile>,
        editor_servers: Vec<ServerConfig>,
    ) -> Result<Servers> {
        let keys = self.settings.keys();
        let variables =
            ServerVariables { env: &self.env, own_names: self.settings.key_variables(), keys: &keys };
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
                starting: self.starting.clone(),
            },
            self.tool_lists().as_ref(),
        )
    }

    /// Returns the user's key for keyed hashes; `None` if it cannot be stored, or if it is missing and nothing may be
    /// written.
    fn key(&self) -> Option<MaskKey> {
        match self.flags.writes_nothing {
            true => key_if_there(&self.paths.state),
            false => user_key(&self.paths.state).ok(),
        }
    }

    /// Whether this is a dry run.
    pub(crate) fn writes_nothing(&self) -> bool {
        self.flags.writes_nothing
    }

    /// Returns the cache of tool lists; `None` without a key for it.
    fn tool_lists(&self) -> Option<ToolListCache> {
        let key = self.key()?;
        let hash: KeyedHash = Arc::new(move |parts| keyed_hash(&key, parts));
        Some(ToolListCache::new(self.paths.tool_lists(), hash))
    }

    /// Returns the model that answers. Exit 2, with a hint, if there is no model.
    pub async fn choose(&self) -> Result<ModelConfig> {
        match self.settings.choose()? {
            ModelChoice::Model(config) => Ok(*config),
            ModelChoice::NeedsLookup(look) => {
                let ollama_model = first_ollama_model(&look.ollama_url).await;
                let embedded = self.installed("").is_some();
                let model = look.choose(LocalModels { ollama_model, embedded })?;
                model.require_web()?;
                Ok(model)
            }
        }
    }

    /// Like `choose`, but does not ask an Ollama server for its models.
    pub fn choose_offline(&self) -> Result<ModelConfig> {
        match self.settings.choose()? {
            ModelChoice::Model(config) => Ok(*config),
            ModelChoice::NeedsLookup(look) => {
                look.choose(LocalModels { ollama_model: None, embedded: self.installed("").is_some() })
            }
        }
    }

    /// Returns the system prompt of a new conv: the requested one, or else that of the user's file. A blank prompt
    /// becomes `None`. The default text is used only `with_servers`.
    pub fn system_prompt(&self, with_servers: bool) -> Result<Option<String>> {
        match &self.flags.system_prompt {
            Some(text) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
            None => system_prompt(&self.paths, with_servers, self.flags.writes_nothing),
        }
    }

    /// Whether the user is asked about the requests of agents; otherwise they are refused.
    pub(crate) fn asks_for_agents(&self) -> bool {
        self.settings.tool_call_mode != ToolMode::Off || self.flags.asks_for_agents
    }

    /// Returns the model options of the command line.
    pub fn cli_options(&self) -> &ModelOptions {
        &self.flags.options
    }

    /// Returns the system prompt of `--system` or `/system`.
    pub fn cli_system_prompt(&self) -> Option<&str> {
        self.flags.system_prompt.as_deref()
    }

    /// Returns the instructions in effect, and a warning for each ignored part of their file.
    pub fn insts(&self, store: &Store) -> Result<(Insts, Vec<String>)> {
        insts_in_force(store, &self.paths)
    }

    /// Returns the folder in which lepo was started, if the repository's instructions and skills are used.
    pub(crate) fn start_dir(&self) -> Option<&Path> {
        self.flags.dir.as_deref()
    }

    /// Creates the masking of secrets according to the settings.
    pub fn masking(&self) -> Masking {
        Masking::with_key(&self.settings, &self.env, self.key())
    }

    /// Returns lepo's own directories and files, which contain keys: sandboxed commands cannot see them.
    pub fn own_paths(&self) -> Vec<PathBuf> {
        let named = self.flags.config.as_ref().and_then(|file| file.canonicalize().ok());
        let Paths { config, state, data, .. } = &self.paths;
        [config, state, data].into_iter().cloned().chain(named).collect()
    }

    /// Creates the client of a model. Its requests wait for `gate`, and fail after `idle` without data.
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
            model.set_sandboxer(Arc::new(ProcessSandboxer::new(
                self.agent_sandboxes.clone(),
                &self.settings,
                &self.paths,
                self.own_paths(),
            )));
        }
        Ok(model)
    }

    /// Returns the folder of `cli` models, in which lepo was started.
    pub(crate) fn cli_dir(&self) -> PathBuf {
        let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        self.start_dir().map_or_else(here, Path::to_path_buf)
    }

    /// Returns the files that a model accepts.
    pub fn accepts(&self, config: &ModelConfig) -> FileSupport {
        lepo_model::accepts(config, &self.paths.state)
    }

    /// Checks whether a model accepts the files of a question, separately and all together.
    pub fn check_files(&self, files: &[NewFile], config: &ModelConfig) -> Result<()> {
        if files.is_empty() { Ok(()) } else { check(files, &self.accepts(config), &config.name) }
    }

    /// Returns the embedded model of this name, if it is installed.
    fn installed(&self, name: &str) -> Option<EmbeddedInstall> {
        let weights = weights::model_path(&self.paths.models(), name)?;
        Some(EmbeddedInstall { program: embedded_program()?, weights, named: None })
    }

    /// Returns an error if `--model` names an unknown model.
    pub fn check_wanted(&self) -> Result<()> {
        let Some(name) = &self.settings.requested_model else { return Ok(()) };
        let model = self.settings.model(name)?;
        let weights = || weights::model_path(&self.paths.models(), &model.model);
        match model.provider == Provider::Embedded && !model.model.is_empty() && weights().is_none() {
            true => Err(missing_weights(&model.model)),
            false => Ok(()),
        }
    }

    /// Counts spending in a store. `is_elsewhere`: the conversation itself adds no lines to the store's journal.
    pub fn count_in(&mut self, store: Arc<Store>, is_elsewhere: bool) {
        let limits = self.settings.budgets(&self.flags);
        self.budget = Budget::new(&self.settings, limits, store, is_elsewhere);
    }

    /// Returns the budget, if one is set.
    pub(crate) fn budget(&self) -> Option<&Budget> {
        self.budget.as_deref()
    }

    /// Returns the meter for requests, if a budget is set.
    pub(crate) fn meter(&self) -> Option<Arc<dyn Meter>> {
        self.budget.clone().map(|budget| budget as Arc<dyn Meter>)
    }

    /// Returns the folder whose repository's instructions this model receives, or the reason why it receives none.
    /// Programs and the embedded model are excluded: a program reads the files itself.
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

    /// Returns the instructions of the repository for this model, if it receives them.
    pub fn instructions(&self, config: &ModelConfig) -> Option<Instructions> {
        let dir = self.repository_speaks(config).ok().filter(|_| self.settings.agents)?;
        Some(Instructions::read(dir))
    }

    /// Returns all skills, if they are used.
    pub fn skills(&self) -> Result<Option<Skills>> {
        match self.start_dir().filter(|_| self.settings.skills) {
            Some(dir) => Skills::read(dir, &self.paths).map(Some),
            None => Ok(None),
        }
    }
}
