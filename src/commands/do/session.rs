//! What a turn is lent: settings, instructions, the model and the line to it.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use super::{Args, log};
use crate::commands::trust::{REPO_FILES, trusted};
use crate::commands::{Context, model};
use crate::config::{
    Choice, Env, Flags, Found, Insts, ModelConfig, Paths, Record, Settings, ToolMode, servers, set_tool_mode,
    system_prompt,
};
use crate::conv::Forest;
use crate::error::{Error, Result};
use crate::model::{Gate, Installed, Model, Timeouts, embedded_program, first_ollama_model, weights};
use crate::store::Store;
use crate::term::say;
use crate::tool::Detected;
use crate::tool::mcp::client::{Limits, Place};
use crate::tool::mcp::{Patience, Pins, Servers};
use crate::turn::{Ask, CommandRunner, Front, Interrupt, Mcp, Report, Start, Turn};

/// Everything that is the same for all turns of a process, until a person changes a setting.
pub struct Session {
    paths: Paths,
    flags: Flags,
    settings: Settings,
    /// The repository's own configuration, where it is trusted.
    repo: Option<(PathBuf, Vec<u8>)>,
    /// What no held command sees.
    own: Vec<PathBuf>,
    sandbox: Detected,
    servers: Mutex<Servers>,
    pins: Pins,
}

impl Session {
    /// Reads the configuration. Nothing is written to the store yet.
    pub fn new(args: &Args, context: &Context<'_>) -> Result<Session> {
        let Read { paths, flags, settings, dir, repo, mcp } = Read::new(args, context)?;
        let configs = match settings.tool_call_mode {
            ToolMode::Off => Vec::new(),
            ToolMode::Manual | ToolMode::Auto => servers(&paths, mcp)?,
        };
        let patience = Patience {
            connect: settings.mcp_connect,
            call: Limits { idle: settings.mcp_idle, total: settings.mcp_total },
        };
        let place = Place { dir, hidden_env: settings.key_variables().to_vec(), keeper: None };
        let servers = Mutex::new(Servers::new(configs, patience, place));
        let pins = Pins::new(Record::at(paths.state.join("pins")));
        let own = own(args, &paths);
        Ok(Session { paths, flags, settings, repo, own, sandbox: Detected::default(), servers, pins })
    }

    /// The MCP servers, each up with its tools or failed, and what there is to say of that.
    pub async fn servers(&self) -> (MutexGuard<'_, Servers>, Vec<String>) {
        let mut servers = self.servers.lock().await;
        let said = servers.ready().await;
        (servers, said)
    }

    /// Ends what turns have left running: to be waited for before the process ends.
    pub async fn close(&self) {
        self.servers.lock().await.close().await;
    }

    /// The model that answers. Where none can: exit 2, with what to do about it.
    pub async fn choose(&self) -> Result<ModelConfig> {
        match self.settings.choose()? {
            Choice::Model(config) => Ok(*config),
            Choice::Look(look) => {
                let ollama_model = first_ollama_model(&look.ollama_url).await;
                let embedded = installed(&self.paths).is_some();
                look.settle(Found { ollama_model, embedded })
            }
        }
    }

    /// The models there are to choose from.
    pub fn models(&self) -> Vec<model::Listed> {
        model::listed(&self.settings, &self.paths)
    }

    /// Makes a model the active one, in the user's file and here.
    pub fn use_model(&mut self, name: &str) -> Result<()> {
        model::activate(&self.settings, &self.paths, name)?;
        self.flags.model = Some(name.to_string());
        self.reload()
    }

    /// Changes how tool requests get their consent, in the user's file and here.
    pub fn use_tool_mode(&mut self, mode: ToolMode) -> Result<()> {
        set_tool_mode(&self.settings.file, mode)?;
        self.flags.tools = Some(mode);
        self.reload()
    }

    /// What a person chose counts as a flag: neither the environment nor the repository wins over it.
    fn reload(&mut self) -> Result<()> {
        self.settings = Settings::load(&self.paths, &Env::from_process(), self.repo.clone(), &self.flags)?;
        Ok(())
    }

    /// The system prompt of a new conv.
    pub fn system_prompt(&self) -> Result<Option<String>> {
        system_prompt(&self.paths)
    }

    /// What a command is carried out with.
    pub fn runner<'h>(&'h self, store: &'h Store, interrupt: &'h Interrupt) -> CommandRunner<'h> {
        CommandRunner { store, settings: &self.settings, own: &self.own, interrupt }
    }

    /// Where lepo keeps what it remembers between runs.
    pub fn state_dir(&self) -> &Path {
        &self.paths.state
    }

    /// One turn. An error is one before it began: nothing was sent, and nothing written.
    pub async fn turn(
        &self,
        config: &ModelConfig,
        store: &Arc<Store>,
        forest: &Forest,
        interrupt: &Interrupt,
        front: &mut dyn Front,
        mut ask: Ask,
    ) -> Result<Report> {
        let settings = &self.settings;
        let insts = insts(store)?;
        if ask.start == Start::New {
            ask.system_prompt = self.system_prompt()?;
        }
        let gate = Gate::new();
        let timeouts = Timeouts { connect: settings.http_connect, idle: settings.http_idle };
        let installed = installed(&self.paths);
        let mut model = Model::new(config, timeouts, &self.paths.state, gate.clone(), installed)?;
        let turn = Turn {
            store,
            forest,
            settings,
            insts: &insts,
            config,
            model: &mut model,
            gate,
            interrupt,
            sandbox: &self.sandbox,
            own: &self.own,
            mcp: Mcp { servers: &mut *self.servers.lock().await, pins: &self.pins },
            front,
        };
        Ok(turn.take(ask).await)
    }
}

/// What files, environment and options say.
struct Read {
    paths: Paths,
    flags: Flags,
    settings: Settings,
    /// The working directory of turns.
    dir: PathBuf,
    repo: Option<(PathBuf, Vec<u8>)>,
    mcp: Option<(PathBuf, Vec<u8>)>,
}

impl Read {
    fn new(args: &Args, context: &Context<'_>) -> Result<Read> {
        let env = Env::from_process();
        let paths = Paths::from_env(&env)?;
        let flags = args.flags()?;
        let (dir, repo, mcp) = match context.find_store()? {
            Some(store) => {
                let [config, mcp] = REPO_FILES.map(|name| trusted(&store, &paths, name, args.quiet));
                (store.root().to_path_buf(), config?, mcp?)
            }
            None => (context.cwd().to_path_buf(), None, None),
        };
        let settings = Settings::load(&paths, &env, repo.clone(), &flags)?;
        log::start(&paths, settings.log_level);
        Ok(Read { paths, flags, settings, dir, repo, mcp })
    }
}

/// lepo's own directories and files, which no held command sees: keys stand in them.
pub fn own(args: &Args, paths: &Paths) -> Vec<PathBuf> {
    let named = args.config.as_ref().and_then(|file| file.canonicalize().ok());
    [paths.config.clone(), paths.state.clone()].into_iter().chain(named).collect()
}

/// The settings in force, whoever answers.
pub fn settings(args: &Args, context: &Context<'_>) -> Result<(Paths, Settings)> {
    let read = Read::new(args, context)?;
    Ok((read.paths, read.settings))
}

/// The runtime of `do`: one thread, which waits.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    let failed = |error| Error::store("cannot start the runtime").because(error);
    // It panics where there are no descriptors for its own five.
    drop(
        [UnixStream::pair(), UnixStream::pair(), UnixStream::pair()]
            .into_iter()
            .collect::<io::Result<Vec<_>>>()
            .map_err(failed)?,
    );
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)
}

/// The embedded model, if it is there.
pub fn installed(paths: &Paths) -> Option<Installed> {
    let weights: PathBuf = weights::installed(&paths.models())?;
    Some(Installed { program: embedded_program()?, weights })
}

/// The instructions in force. What is ignored of them is said.
pub fn insts(store: &Store) -> Result<Insts> {
    let Some(bytes) = store.insts()? else { return Ok(Insts::default()) };
    let (insts, ignored) = Insts::parse(&store.shown().join("_insts.toml"), &bytes)?;
    for what in ignored {
        say(&format!("warning: {what}"));
    }
    Ok(insts)
}
