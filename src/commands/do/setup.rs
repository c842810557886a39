//! What a turn is lent: settings, instructions, the model and the line to it.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Args, log};
use crate::commands::Context;
use crate::commands::trust::{REPO_FILES, repo_file};
use crate::config::{Choice, Env, Flags, Found, Insts, ModelConfig, Paths, Settings, Trust, system_prompt};
use crate::conv::Forest;
use crate::error::{Error, Result};
use crate::model::{Gate, Installed, Model, Timeouts, embedded_program, first_ollama_model, weights};
use crate::store::Store;
use crate::talk::{Ask, Front, Interrupt, Report, Start, Turn};
use crate::term::say;
use crate::tool::Detected;

/// Everything that is the same for all turns of a process.
pub struct Setup {
    paths: Paths,
    settings: Settings,
    config: ModelConfig,
    sandbox: Detected,
    own: [PathBuf; 2],
}

impl Setup {
    /// Reads the configuration and chooses the model. Nothing is written to the store yet.
    pub fn new(args: &Args, context: &Context<'_>) -> Result<Setup> {
        let env = Env::from_process();
        let paths = Paths::from_env(&env)?;
        let flags = Flags {
            config: args.config.clone(),
            model: args.model.clone(),
            tools: args.tools,
            ..Flags::default()
        };
        let repo = match context.find_store()? {
            Some(store) => {
                let trust = Trust::of(&paths);
                let [config, _mcp] = REPO_FILES.map(|name| trusted(&store, &trust, name));
                config?
            }
            None => None,
        };
        let settings = Settings::load(&paths, &env, repo, &flags)?;
        log::start(&paths, settings.log_level);
        let config = match settings.choose()? {
            Choice::Model(config) => *config,
            Choice::Look(look) => {
                let ollama_model = runtime()?.block_on(first_ollama_model(&look.ollama_url));
                let embedded = installed(&paths).is_some();
                look.settle(Found { ollama_model, embedded })?
            }
        };
        let own = [paths.config.clone(), paths.state.clone()];
        Ok(Setup { paths, settings, config, sandbox: Detected::default(), own })
    }

    /// One turn.
    pub async fn turn(
        &self,
        store: &Arc<Store>,
        forest: &Forest,
        interrupt: &Interrupt,
        front: &mut dyn Front,
        mut ask: Ask,
    ) -> Result<Report> {
        let insts = insts(store)?;
        if ask.start == Start::New {
            ask.system_prompt = system_prompt(&self.paths)?;
        }
        let gate = Gate::new();
        let timeouts = Timeouts { connect: self.settings.http_connect, idle: self.settings.http_idle };
        let installed = installed(&self.paths);
        let mut model = Model::new(&self.config, timeouts, &self.paths.state, gate.clone(), installed)?;
        let turn = Turn {
            store,
            forest,
            settings: &self.settings,
            insts: &insts,
            config: &self.config,
            model: &mut model,
            gate,
            interrupt,
            sandbox: &self.sandbox,
            own: &self.own,
            front,
        };
        Ok(turn.take(ask).await)
    }
}

/// A file of the repository, if it counts. One that does not is told of in one line.
fn trusted(store: &Store, trust: &Trust, name: &str) -> Result<Option<(PathBuf, Vec<u8>)>> {
    let ignored = |why: &str| say(&format!("note: {} is ignored: {why}", store.shown().join(name).display()));
    match repo_file(store, name) {
        Ok(Some(file)) if trust.covers(&file)? => return Ok(Some((file.path, file.bytes))),
        Ok(Some(_)) => ignored("it is not trusted; `lepo trust` shows what it would do"),
        Ok(None) => {}
        // A link, a fifo: nothing a person could have trusted.
        Err(error) => ignored(&error.chain()),
    }
    Ok(None)
}

/// The runtime of `do`: one thread, which waits.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::store("cannot start the runtime").because(error))
}

fn installed(paths: &Paths) -> Option<Installed> {
    let weights: PathBuf = weights::installed(&paths.models())?;
    Some(Installed { program: embedded_program()?, weights })
}

fn insts(store: &Store) -> Result<Insts> {
    let Some(bytes) = store.insts()? else { return Ok(Insts::default()) };
    let (insts, ignored) = Insts::parse(&store.shown().join("_insts.toml"), &bytes)?;
    for what in ignored {
        say(&format!("warning: {what}"));
    }
    Ok(insts)
}
